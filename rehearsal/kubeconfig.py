"""The shape of a kubeconfig, checked before a client takes it apart.

The client's own loader checks little, and what it stumbles over it tells in Python's words, of no line or key.
"""

import base64
import binascii
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from experiment.errors import SplitbedError
from stackfiles.yamltext import YAMLTextError, read

_LONGEST_SHOWN = 60
_WORDS = {
    "missing": "it is missing",
    "model_type": "it should be a mapping",
    "list_type": "it should be a list",
    "string_type": "it should be text",
    "bool_type": "it should be true or false",
    "too_short": "it is empty",
}


class KubeconfigError(SplitbedError):
    """The file cannot be read, or is no kubeconfig."""


def _kebab(name: str) -> str:
    return name.replace("_", "-")


def _is_base64(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"it is not base64 ({error})") from None
    return text


def _is_address(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s/]+(/\S*)?", text):
        raise ValueError("it should be an address such as https://127.0.0.1:6443")
    return text


def _is_header(text: str) -> str:
    if not re.fullmatch(r"[!-~]*", text):
        raise ValueError("it has a character that cannot be sent")
    return text


Data = Annotated[str, AfterValidator(_is_base64)]


class _Part(BaseModel):
    """Strict about the types of what is known, and silent about what is not: others may extend their files."""

    model_config = ConfigDict(strict=True, extra="ignore", alias_generator=_kebab)


class _Cluster(_Part):
    server: Annotated[str, AfterValidator(_is_address)]
    certificate_authority: str | None = None
    certificate_authority_data: Data | None = None
    insecure_skip_tls_verify: bool | None = None


class _Exec(_Part):
    model_config = ConfigDict(alias_generator=to_camel)

    command: str
    args: list[str] | None = None
    api_version: str


class _User(_Part):
    client_certificate: str | None = None
    client_certificate_data: Data | None = None
    client_key: str | None = None
    client_key_data: Data | None = None
    token: Annotated[str, AfterValidator(_is_header)] | None = None
    exec: _Exec | None = None


class _Context(_Part):
    cluster: str
    user: str | None = None


class _NamedCluster(_Part):
    name: str
    cluster: _Cluster


class _NamedUser(_Part):
    name: str
    user: _User | None = None


class _NamedContext(_Part):
    name: str
    context: _Context


class _Kubeconfig(_Part):
    clusters: list[_NamedCluster] = Field(min_length=1)
    users: list[_NamedUser] | None = None
    contexts: list[_NamedContext] = Field(min_length=1)
    current_context: str | None = None


def check_shape(path: Path) -> None:
    """Look whether a file can be a kubeconfig; credentials are never part of what is said.

    Raises:
        KubeconfigError: with the first thing that is wrong, and where.
    """
    try:
        document = read(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise KubeconfigError(
            f"The kubeconfig {path} cannot be read: {error.strerror}.", "Check --kubeconfig."
        ) from None
    except (YAMLTextError, UnicodeDecodeError) as error:
        raise KubeconfigError(f"The kubeconfig {path} is not YAML: {error}.", "Check --kubeconfig.") from None
    try:
        _Kubeconfig.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = "".join(f"{key}." for key in first["loc"]).rstrip(".")
        what = _WORDS.get(first["type"], first["msg"].removeprefix("Value error, "))
        raise KubeconfigError(
            f"The file {path} is no kubeconfig: {f'{where}: ' if where else ''}"
            f"{_shown(first['loc'], first['input'])}{what}.",
            "Check --kubeconfig; `kubectl config view --kubeconfig FILE` shows how a client reads it.",
        ) from None


def _shown(place: tuple[int | str, ...], value: Any) -> str:
    """Show a short value that cannot be a credential: of a user's part, nothing is."""
    if "users" in place or isinstance(value, dict | list):
        return ""
    text = repr(value)
    return f"found {text}: " if len(text) <= _LONGEST_SHOWN else ""
