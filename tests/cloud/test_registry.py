"""A digest is what the registry's own bytes come to."""

import pytest

from cloud.registry import Image, RegistryError, resolve
from cloud.web import Answer
from tests.cloud.places import Places, digest, manifest

URL = "https://r.invalid/v2/a/b/manifests/1"


def test_the_digest_is_of_the_index_of_all_architectures() -> None:
    places = Places()
    wanted = places.image(URL, "arm64", "amd64")

    found = resolve("r.invalid/a/b:1", places)

    assert found == Image(wanted, frozenset({"arm64", "amd64"}))
    assert "application/vnd.oci.image.index.v1+json" in places.asked[0][1]["Accept"]


def test_a_token_for_anybody_is_fetched_where_the_registry_says() -> None:
    places = Places()
    places.closed.add("r.invalid")
    wanted = places.image(URL, "arm64")

    assert resolve("r.invalid/a/b:1", places).digest == wanted
    assert [url for url, _ in places.asked] == [
        URL,
        "https://auth.invalid/token?scope=repository%3Aa%2Fb%3Apull&service=s",
        URL,
    ]


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("docker.io/vllm/x:v1", "https://registry-1.docker.io/v2/vllm/x/manifests/v1"),
        ("docker.io/busybox:1", "https://registry-1.docker.io/v2/library/busybox/manifests/1"),
        ("r.invalid:5000/a/b:1", "https://r.invalid:5000/v2/a/b/manifests/1"),
    ],
)
def test_where_an_image_is_asked_for(reference: str, url: str) -> None:
    places = Places()
    places.image(url, "arm64")

    resolve(reference, places)

    assert places.asked[0][0] == url


def test_an_image_that_is_pinned_is_asked_for_by_its_digest() -> None:
    places = Places()
    pinned = digest(manifest("arm64"))
    places.image(f"https://r.invalid/v2/a/b/manifests/{pinned}", "arm64")

    assert resolve(f"r.invalid/a/b:1@{pinned}", places).digest == pinned


def test_bytes_that_are_not_the_digests_are_refused() -> None:
    places = Places()
    pinned = digest(manifest("arm64"))
    places.image(f"https://r.invalid/v2/a/b/manifests/{pinned}", "amd64")

    with pytest.raises(RegistryError, match="something else"):
        resolve(f"r.invalid/a/b:1@{pinned}", places)


def test_a_header_that_says_another_digest_is_refused() -> None:
    places = Places()
    places.answers[URL] = Answer(200, {"docker-content-digest": "sha256:00"}, manifest("arm64"))

    with pytest.raises(RegistryError, match="something else"):
        resolve("r.invalid/a/b:1", places)


@pytest.mark.parametrize(
    ("status", "said"), [(404, "no such image"), (403, "sign in"), (429, "too often"), (500, "answers 500")]
)
def test_what_a_registry_refuses(status: int, said: str) -> None:
    places = Places()
    places.answers[URL] = Answer(status, {}, b"")

    with pytest.raises(RegistryError, match=said):
        resolve("r.invalid/a/b:1", places)


def test_a_registry_that_wants_a_password_is_refused() -> None:
    places = Places()
    places.answers[URL] = Answer(401, {"www-authenticate": 'Basic realm="x"'}, b"")

    with pytest.raises(RegistryError, match="do not sign in"):
        resolve("r.invalid/a/b:1", places)


def test_what_is_no_manifest_is_refused() -> None:
    places = Places()
    places.answers[URL] = Answer(200, {}, b"<html>")

    with pytest.raises(RegistryError, match="no JSON"):
        resolve("r.invalid/a/b:1", places)
