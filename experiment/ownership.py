"""Tags by which everything of an experiment is known in an AWS account, to people, our commands and janitors."""

from experiment.identity import Identity
from experiment.tags import tag_value

EXPERIMENT = "splitbed:experiment"
OWNER = "splitbed:owner"
PURPOSE = "splitbed:purpose"
END_DATE = "splitbed:end-date"
KEPT = "splitbed:kept"
"""Of what is meant to outlive the experiment, with the reason as its value: no leftover to be swept."""


def tags(identity: Identity) -> dict[str, str]:
    """Return the tags of everything that the experiment makes: our own and the organisation's.

    The moment keeps the time zone in which it was written, so that a person recognises it.
    """
    own = {
        EXPERIMENT: identity.name,
        OWNER: tag_value(identity.owner),
        PURPOSE: tag_value(identity.purpose),
    }
    if identity.end_date is not None:
        own[END_DATE] = identity.end_date.isoformat()
    return own | identity.filled_tags()
