"""How things of one kind are found and deleted."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from cloud.account import Account
from cloud.thing import Thing

Find = Callable[[Account, str, Sequence[Thing]], Iterable[Thing]]
"""Gets the account, a region, and what was found there of earlier kinds.

It may return things of anybody: they are told apart by all their tags, which no filter of a service can weigh.
"""
Delete = Callable[[Account, Thing], object]


@dataclass(frozen=True)
class Kind:
    """A kind of things.

    Attributes:
        name: the kind of its things.
        find: lists at least those that may be an experiment's.
        delete: asks for the deletion of one; what is gone already is no error of boto3 that matters.
        fixable: whether its tags are put right live, or by `pulumi up`.
        everywhere: whether it has no region, and is asked for once.
    """

    name: str
    find: Find
    delete: Delete
    fixable: bool = False
    everywhere: bool = False
