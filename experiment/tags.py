"""Tags that an organisation asks for, by its own keys; AWS's rules of what a tag may be."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

PLACES = ("name", "owner", "purpose", "end_date")
"""What a value may name in braces."""

LONGEST_VALUE = 256
_NOT_ALLOWED = re.compile(r"[^\w .:/=+@-]")
_PLACE = re.compile(r"\{([^{}]*)\}")


def _known_places(tags: dict[str, str]) -> dict[str, str]:
    for key, value in tags.items():
        if key.lower().startswith(("aws:", "splitbed:")):
            raise PydanticCustomError(
                "tag_key", "this key is not the organisation's", {"key": key, "remedy": "Choose another key."}
            )
        unknown = next((place for place in _PLACE.findall(value) if place not in PLACES), None)
        if unknown is not None or _NOT_ALLOWED.search(_PLACE.sub("", value)):
            why = (
                f"there is nothing called {{{unknown}}}"
                if unknown is not None
                else "it has characters that AWS refuses"
            )
            raise PydanticCustomError(
                "tag_value",
                "{why}",
                {
                    "key": key,
                    "why": why,
                    "remedy": "Use letters, digits, spaces, . : / = + - _ @, and "
                    + ", ".join(f"{{{place}}}" for place in PLACES)
                    + ".",
                },
            )
    return tags


TagKey = Annotated[str, StringConstraints(pattern=r"^[\w.:/=+@-]([\w .:/=+@-]*[\w.:/=+@-])?$", max_length=128)]
Tags = Annotated[
    dict[TagKey, Annotated[str, StringConstraints(max_length=LONGEST_VALUE)]],
    Field(max_length=30),  # AWS allows fifty; our own, EKS's and Auto Scaling's are among them
    AfterValidator(_known_places),
]


def filled(tags: Mapping[str, str], known: Mapping[str, str | None]) -> dict[str, str]:
    """Return the tags with what stands in braces filled in; a tag that names something unknown yet is left out."""
    return {
        key: tag_value(_PLACE.sub(lambda place: known[place[1]] or "", value))
        for key, value in tags.items()
        if all(known[place] is not None for place in _PLACE.findall(value))
    }


def tag_value(text: str) -> str:
    """Return a text as the value of a tag: what AWS refuses becomes a space, what is too long is cut off."""
    return " ".join(_NOT_ALLOWED.sub(" ", text).split())[:LONGEST_VALUE].rstrip()
