"""References of container images; each names one fixed image."""

import re
from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

_REFERENCE = re.compile(
    r"(?P<name>[a-z0-9]+(?:[._:-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)+)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?P<digest>@sha256:[0-9a-f]{64})?"
)
_MOVING = frozenset({"latest", "main", "master", "nightly", "edge", "dev", "stable"})


def _pinned(reference: str) -> str:
    parts = _REFERENCE.fullmatch(reference)
    if parts is None:
        raise PydanticCustomError(
            "image",
            "this is no full image reference",
            {"remedy": "Write host/name:tag or host/name@sha256:digest, for example registry.example/engine:1.2.3."},
        )
    if not parts["digest"] and (parts["tag"] is None or parts["tag"] in _MOVING):
        raise PydanticCustomError(
            "image_moves",
            "the image is not pinned: another one may be behind this name tomorrow",
            {"remedy": "Name a version's tag, or better a digest."},
        )
    return reference


ImageReference = Annotated[str, AfterValidator(_pinned)]
"""Host, name and a tag that does not move, or a digest."""


def split_tag(reference: str) -> tuple[str, str]:
    """Divide into repository and the rest, in the form charts want: `("host/name", "tag@sha256:...")`."""
    parts = _REFERENCE.fullmatch(reference)
    if parts is None or (not parts["tag"] and not parts["digest"]):
        raise ValueError(f"not a pinned image reference: {reference}")
    return parts["name"], f"{parts['tag'] or 'pinned'}{parts['digest'] or ''}"
