"""References of container images; each names one fixed image."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from experiment.strict import Strict

REHEARSED = "splitbed.invalid"
"""Host in the names of the rehearsal's images; reserved by RFC 2606: nothing can ever be pulled from there."""

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


class ArchitectureImages(Strict):
    """An image for each architecture of nodes, where they are not one image under one name."""

    arm64: ImageReference | None = Field(None, description="image for Arm processors, such as Graviton, pinned")
    amd64: ImageReference | None = Field(None, description="image for x86 processors, pinned")

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.arm64 is None and self.amd64 is None:
            raise PydanticCustomError("no_image", "it names no image", {"remedy": "Name one for arm64 or amd64."})
        return self


_ONE, _EACH = "one image", "an image for each architecture"


def _one_or_several(value: Any) -> str:
    return _EACH if isinstance(value, Mapping | ArchitectureImages) else _ONE


Image = Annotated[
    Annotated[ImageReference, Tag(_ONE)] | Annotated[ArchitectureImages, Tag(_EACH)],
    Discriminator(_one_or_several),
]
"""One reference for whatever architecture, or one for each."""


def image_for(image: str | ArchitectureImages, architecture: Literal["arm64", "amd64"] | None) -> str | None:
    """Return the image for nodes of an architecture, none if there is none or the architecture is not known."""
    if isinstance(image, str):
        return image
    return {"arm64": image.arm64, "amd64": image.amd64, None: None}[architecture]


def each_image(image: str | ArchitectureImages, path: str) -> Iterator[tuple[str, str]]:
    """Yield every reference that a setting names, with the path where it stands."""
    if isinstance(image, str):
        yield path, image
        return
    for architecture, reference in (("arm64", image.arm64), ("amd64", image.amd64)):
        if reference is not None:
            yield f"{path}.{architecture}", reference


def split_tag(reference: str) -> tuple[str, str]:
    """Divide into repository and the rest, in the form charts want: `("host/name", "tag@sha256:...")`.

    Raises:
        ValueError: it is not a pinned reference, of which settings hold no other.
    """
    parts = _REFERENCE.fullmatch(reference)
    if parts is None or (not parts["tag"] and not parts["digest"]):
        raise ValueError(f"not a pinned image reference: {reference}")
    return parts["name"], f"{parts['tag'] or 'pinned'}{parts['digest'] or ''}"


_IN_TAG = {"arm64": ("arm64", "aarch64"), "amd64": ("amd64", "x86_64", "x86-64")}


def named_architecture(reference: str) -> Literal["arm64", "amd64"] | None:
    """Return the architecture that an image says in its name or tag that it is for, none if it says none or both."""
    said = [name for name, words in _IN_TAG.items() if any(word in reference.partition("@")[0] for word in words)]
    return ("arm64" if said[0] == "arm64" else "amd64") if len(said) == 1 else None
