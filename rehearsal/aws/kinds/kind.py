"""How resources of one kind come to be, change, are looked at, and go."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rehearsal.aws.requests import requests
from rehearsal.aws.services import Services

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Resource:
    """A resource that is there: its id, and its properties as the engine's state has them."""

    id: str
    state: Values

    def lost(self, tags: Mapping[str, str]) -> list[str]:
        """Return the keys of those of its tags that are not among `tags`."""
        return [key for key in self.state.get("tagsAll") or {} if key not in tags]


@dataclass(frozen=True)
class Made:
    """A resource that has come to be: its id, and what is known of it besides its inputs.

    Attributes:
        failed: how the provider says that it is there and will not do; empty if it will.
    """

    id: str
    outputs: Values
    failed: str = ""


@dataclass(frozen=True)
class Making:
    """A resource that is being made: what it is called, from which inputs, and the answers to its requests."""

    services: Services
    name: str
    inputs: Values
    answers: list[dict[str, Any]]


@dataclass(frozen=True)
class Changing:
    """A resource that is being changed in place: as it was, its new inputs, and which of them changed."""

    services: Services
    resource: Resource
    news: Values
    keys: frozenset[str]


Look = Callable[[Services, Resource], Values | None]
"""Returns properties that may differ from those in the state; None of a resource that is gone."""


def nothing(_: Services, __: Resource) -> Values | None:
    """See nothing that the state would not know."""
    return {}


def unchangeable(change: Changing) -> None:
    """Change nothing."""
    raise NotImplementedError(f"{change.resource.id}: the double changes no {', '.join(sorted(change.keys))}")


def put(type_: str) -> Callable[[Changing], None]:
    """Return the change of a kind whose creation puts it in the place of what was there."""

    def change(change: Changing) -> None:
        change.services.send(requests(type_, change.news), lambda _: "")

    return change


@dataclass(frozen=True)
class Kind:
    """A kind of resources.

    Attributes:
        type: its token.
        required: inputs without which there is none.
        fixed: inputs of which another value is another resource.
        itself: reads the id from the answer to the first request.
        make: says what has come to be.
        delete: asks for its end; one that is gone already is no error.
        look: looks whether it is there and what has changed behind the engine's back.
        change: changes it in place; tags are changed by `tag` before.
        tag: gives it another set of tags.
        computed: outputs that a preview of its creation does not know.
        named: the input by which it is called, which the provider fills where the program does not.
        unique: whether two cannot have the same name, so that the old one goes before the new one comes.
    """

    type: str
    required: frozenset[str]
    fixed: frozenset[str]
    make: Callable[[Making], Made]
    delete: Callable[[Services, Resource], object]
    itself: Callable[[dict[str, Any]], str] = lambda _: ""
    look: Look = nothing
    change: Callable[[Changing], None] = unchangeable
    tag: Callable[[Services, Resource, Mapping[str, str]], object] | None = None
    computed: tuple[str, ...] = ("arn",)
    named: str | None = None
    unique: bool = False
