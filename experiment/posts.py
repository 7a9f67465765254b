"""The tests of the posts, as one plan: what a laptop runs against a URL if it is given none."""

from experiment.kinds.alone import Idle, OneUser, PromptLength
from experiment.kinds.loads import Concurrency
from experiment.kinds.sharing import FollowUp, Interference, Modes
from experiment.workload import Plan, Test

TESTS: tuple[Test, ...] = (
    Idle(kind="idle"),
    OneUser(kind="one-user"),
    PromptLength(kind="prompt-length"),
    Concurrency(kind="concurrency"),
    Interference(kind="interference"),
    FollowUp(kind="follow-up"),
    Modes(kind="modes", starts=("together", "staggered")),
)
"""Of the 1B post: 8 replies of 200 tokens, three runs a prompt length, a sweep with two more passes, 3,500 tokens four
seconds into a reply of 256, a follow-up after about 2,800 tokens. The lengths and numbers of users are ours where its
text has none; the modes are what the post could not explain."""


def posts_plan(model: str, run: str = "posts", seed: int = 0) -> Plan:
    """Return the plan for a served model."""
    return Plan(run=run, model=model, seed=seed, tests=TESTS, request_timeout_s=600, ready_timeout_s=900)
