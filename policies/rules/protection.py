"""An experiment can be taken down."""

from collections.abc import Iterator

from policies.rule import Rule
from policies.seen import Seen


def _complaints(seen: Seen) -> Iterator[str]:
    if seen.protected:
        yield "It is protected, so `pulumi destroy` would stop at it. Leave out protect."


NOTHING_PROTECTED = Rule("nothing-protected", "Nothing is protected: `pulumi destroy` takes all down.", _complaints)
