"""What can go wrong while the machine is looked at."""

from experiment.errors import SplitbedError


class ListingError(SplitbedError):
    """The machine does not tell what is on it, so nothing can be proven of it."""
