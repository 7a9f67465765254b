"""Whether everything that an experiment has in AWS says whose it is and when it ends, and ends then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from cloud.kinds.all import KINDS
from cloud.survey import Owned
from experiment import health, ownership, schedules

What = Literal[
    "untagged",
    "other tags",
    "no end date",
    "past its end date",
    "another end date",
    "ends at another time",
    "lacks nodes",
]

UP, FIX, DESTROY = "`pulumi up`", "`splitbed audit STACK --fix`", "`pulumi destroy`, then `splitbed sweep`"


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be.

    Attributes:
        owned: the thing and whose it is.
        what: what is wrong.
        said: in words.
        remedy: what puts it right.
        missing: tags that it should have, with their values.
    """

    owned: Owned
    what: What
    said: str
    remedy: str
    missing: Mapping[str, str]


def audit(found: Sequence[Owned], now: datetime, expected: Mapping[str, str] | None = None) -> list[Finding]:
    """Return what is wrong with the things of one or more experiments.

    What is kept on purpose may be past its date: that is what it is kept for.

    Args:
        found: the things, as `survey.owned` returned them.
        now: with its time zone.
        expected: the tags that all must have, if the stack's file is at hand; else each must have our own four.
    """
    return [
        finding for one in found for finding in (_judged(one, now, expected), _ailing(one, now)) if finding is not None
    ]


def _judged(one: Owned, now: datetime, expected: Mapping[str, str] | None) -> Finding | None:
    thing, tags = one.thing, one.thing.tags
    wanted = dict(expected or {})
    absent = [key for key in (wanted or _OWN) if key not in tags]
    other = {key: value for key, value in wanted.items() if tags.get(key) != value}
    remedy = FIX if KINDS[thing.kind].fixable else UP
    if ownership.EXPERIMENT not in tags:
        return Finding(one, "untagged", "it does not say whose it is", remedy, other)
    end = ended(tags)
    if end is None:
        return Finding(one, "no end date", "it does not say when it ends", remedy, other)
    if end <= now and ownership.KEPT not in tags:
        late = ownership.END_DATE in other and moment(wanted[ownership.END_DATE]) > now
        return Finding(
            one,
            "past its end date",
            f"it should have gone at {tags[ownership.END_DATE]}",
            remedy if late else DESTROY,
            other,
        )
    if thing.ends and _ends_otherwise(thing.ends, thing.handle, end):
        return Finding(
            one, "ends at another time", f"it is set to {thing.ends}, and its tag says {end.isoformat()}", UP, {}
        )
    if ownership.END_DATE in other:
        said = f"it says that it ends at {tags[ownership.END_DATE]}, the stack's file {wanted[ownership.END_DATE]}"
        return Finding(one, "another end date", said, remedy, other)
    if absent or other:
        return Finding(
            one, "other tags", f"{', '.join(sorted({*absent, *other}))}: missing or different", remedy, other
        )
    return None


def _ailing(one: Owned, now: datetime) -> Finding | None:
    """Say why a group has not its nodes; at its end date it is not to have any."""
    thing = one.thing
    end = ended(thing.tags)
    if not thing.ails or (end is not None and end <= now):
        return None
    why = health.cause(thing.ails)
    if why is None:
        return Finding(one, "lacks nodes", thing.ails.rstrip("."), "What AWS asks for there", {})
    return Finding(one, "lacks nodes", why.said, why.remedy, {})


def ended(tags: Mapping[str, str]) -> datetime | None:
    """Return the end date of a thing's tags, none if it says none that can be read."""
    try:
        return moment(tags[ownership.END_DATE])
    except (KeyError, ValueError):
        return None


def moment(text: str) -> datetime:
    """Return the moment that a tag says.

    Raises:
        ValueError: it is none, or has no time zone.
    """
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return found


_OWN = (ownership.EXPERIMENT, ownership.OWNER, ownership.PURPOSE, ownership.END_DATE)


def _ends_otherwise(expression: str, name: str, end: datetime) -> bool:
    due = end - schedules.WARNING_BEFORE if name == "warning" else end
    return expression != schedules.at(due)
