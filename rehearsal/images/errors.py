"""What can go wrong with the images."""

from experiment.errors import SplitbedError


class ImageError(SplitbedError):
    """An image could not be written."""
