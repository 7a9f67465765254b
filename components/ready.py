"""Whether an experiment may be made yet.

UnreadyError
    what costs money would be made without an end, or in versions that nobody has chosen.
"""

import pulumi

from components import hub_token
from experiment import pins
from experiment.errors import SplitbedError
from experiment.pins import Pins
from experiment.settings import Settings, before_up


class UnreadyError(SplitbedError):
    """Nothing is to be made of the settings yet, though all may be planned, and taken down."""


def check(settings: Settings, known: Pins) -> None:
    """Stop before anything is made. A preview is not stopped: it warns, and shows what would be made.

    Raises:
        UnreadyError: with all that is to be said first.
    """
    unsaid = [str(problem) for problem in before_up(settings)]
    token = hub_token.lacking(settings.model)
    if token is not None:
        unsaid.append(token)
    missing = pins.missing(settings, known)
    if missing:
        unsaid += [
            "Not pinned, so that tomorrow's cluster would be another one (`splitbed pin` looks them up):",
            *(f"  {what}" for what in missing),
        ]
    if not unsaid:
        return
    message = "\n".join(["This stack can be planned and previewed, but not brought up yet.", *unsaid])
    if not pulumi.runtime.is_dry_run():
        raise UnreadyError(message)
    pulumi.log.warn(message)
