"""Where the model's weights come from, and whether a node keeps them."""

import re
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from experiment.strict import Strict

_S3 = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/[^\s$]+")
_DIRECTORY = re.compile(r"/[^\x00\n$]*[^/\x00\n$]")


class Weights(Strict):
    """The default is that of the posts: every pod downloads them from the hub at every start."""

    source: Literal["hub", "s3", "directory"] = Field(
        "hub", description="hub (Hugging Face), s3 (a prefix of a bucket) or directory (of each engine node)"
    )
    uri: str | None = Field(
        None, max_length=1024, description="for s3 s3://bucket/prefix, for directory its absolute path; none for hub"
    )
    cache: Literal["node", "none"] = Field(
        "none", description="node (each node fetches them once and keeps them) or none (each pod fetches them)"
    )

    @model_validator(mode="after")
    def _uri_fits(self) -> Self:
        pattern = {"hub": None, "s3": _S3, "directory": _DIRECTORY}[self.source]
        fits = self.uri is None if pattern is None else self.uri is not None and pattern.fullmatch(self.uri)
        if not fits:
            raise PydanticCustomError(
                "weights_uri",
                "source {source} does not go with this uri",
                {
                    "source": self.source,
                    "remedy": "Write s3://bucket/prefix for s3, an absolute path for directory, nothing for hub.",
                },
            )
        if self.source == "directory" and self.cache == "node":
            raise PydanticCustomError(
                "weights_cached",
                "weights in a directory of the node need no cache there",
                {"remedy": "Leave out cache."},
            )
        return self
