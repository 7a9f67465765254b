"""Errors that a person can cause and mend.

SplitbedError
    and its children, each beside the code that raises it: they say what was found, where, and what to do.
"""


class SplitbedError(Exception):
    """A mistake or an obstacle explained to the person who met it; commands print it without a traceback."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy
