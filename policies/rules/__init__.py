"""All rules, in the order in which they are told."""

from policies.rule import Rule
from policies.rules.engines import ENGINES_GET_WHAT_THEY_ASK_FOR
from policies.rules.exposure import CLOSED_TO_THE_WORLD, NO_LOAD_BALANCER
from policies.rules.images import PINNED
from policies.rules.protection import NOTHING_PROTECTED
from policies.rules.tags import TAGGED

RULES: tuple[Rule, ...] = (
    TAGGED,
    CLOSED_TO_THE_WORLD,
    NO_LOAD_BALANCER,
    PINNED,
    ENGINES_GET_WHAT_THEY_ASK_FOR,
    NOTHING_PROTECTED,
)
