"""Registries of container images, by the OCI distribution specification (`/v2/`), as anybody may ask them."""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from cloud.web import Answer, Get
from experiment.errors import SplitbedError

_TYPES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_DOCKER_HUB = "registry-1.docker.io"
"""Where images of `docker.io` are."""

_CHALLENGE = re.compile(r'(\w+)="([^"]*)"')


class RegistryError(SplitbedError):
    """An image is not to be had, or its registry is not what it should be."""


@dataclass(frozen=True)
class Image:
    """What a reference stands for today.

    Attributes:
        digest: of the index of all architectures if there is one, else of the one image.
        architectures: of its Linux images, as in `kubernetes.io/arch`; none if only its configuration would tell.
    """

    digest: str
    architectures: frozenset[str]


def resolve(reference: str, get: Get) -> Image:
    """Ask the registry of an image what is behind its tag or digest.

    Args:
        reference: `host/name:tag`, `host/name@sha256:...`, or both.
        get: asks the network.

    Raises:
        RegistryError: the registry does not have it, does not give it to anybody, or the answer is not its digest's.
        SplitbedError: the registry cannot be reached.
    """
    host, name, wanted = _parts(reference)
    url = f"https://{host}/v2/{name}/manifests/{wanted}"
    accept = {"Accept": ", ".join(_TYPES)}
    answer = get(url, accept)
    if answer.status == 401:
        answer = get(url, {**accept, **_token(answer, reference, name, get)})
    if answer.status in (401, 403, 404):
        why = "has no such image" if answer.status == 404 else "has no such image for those who do not sign in"
        raise RegistryError(f"{host} {why}: {reference}.", "Check its name and tag in the stack's file.")
    if answer.status == 429:
        raise RegistryError(f"{host} has been asked too often.", "Wait some minutes and run the same again.")
    if answer.status != 200:
        raise RegistryError(f"{host} answers {answer.status} for {reference}.", "Run the same again later.")
    digest = f"sha256:{hashlib.sha256(answer.body).hexdigest()}"
    for said in (answer.headers.get("docker-content-digest", digest), wanted if ":" in wanted else digest):
        if said != digest:
            raise RegistryError(
                f"{host} sent something else for {reference} than it says: {digest}, not {said}.",
                "Ask again without a proxy that changes what passes.",
            )
    return Image(digest, _architectures(_json(answer, reference)))


def _parts(reference: str) -> tuple[str, str, str]:
    rest, _, digest = reference.partition("@")
    host, _, path = rest.partition("/")
    name, _, tag = path.partition(":")
    if host == "docker.io":
        host, name = _DOCKER_HUB, name if "/" in name else f"library/{name}"
    return host, name, digest or tag


def _token(refused: Answer, reference: str, name: str, get: Get) -> dict[str, str]:
    """Have a token for anybody from where the registry says (`WWW-Authenticate: Bearer`)."""
    said = refused.headers.get("www-authenticate", "")
    challenge = dict(_CHALLENGE.findall(said))
    realm = challenge.get("realm", "")
    if not said.lower().startswith("bearer") or not realm.startswith("https://"):
        raise RegistryError(f"{reference} is not given to those who do not sign in.", "Name a public image.")
    query = {"scope": challenge.get("scope", f"repository:{name}:pull")}
    if "service" in challenge:
        query["service"] = challenge["service"]
    answer = get(f"{realm}?{urlencode(query)}", {})
    if answer.status != 200:
        raise RegistryError(f"{reference} is not given to those who do not sign in.", "Name a public image.")
    found = _json(answer, reference)
    return {"Authorization": f"Bearer {found.get('token') or found.get('access_token', '')}"}


def _architectures(manifest: dict[str, Any]) -> frozenset[str]:
    platforms = [one.get("platform", {}) for one in manifest.get("manifests", [])]
    return frozenset(one["architecture"] for one in platforms if one.get("os") == "linux" and "architecture" in one)


def _json(answer: Answer, reference: str) -> dict[str, Any]:
    try:
        found = json.loads(answer.body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise RegistryError(f"The registry's answer for {reference} is no JSON.", "Run the same again later.")
    return found
