"""What can go wrong with the tools."""

from experiment.errors import SplitbedError


class ToolchainError(SplitbedError):
    """A program could neither be found nor built."""
