"""What the experiment may cost."""

from pydantic import Field

from experiment.strict import Strict


class Budget(Strict):
    """A plan above it is refused."""

    usd: float = Field(gt=0, le=1_000_000, description="US dollars until the end date, taxes and transfer out excluded")
