"""The container images of a rehearsal, written here: no registry, no container engine.

Image
    a reference and the archive that holds it.
pause_image, lws_manager_image, collector_image, aws_cli_image, standin_image, vllm_image
    write an image, or find the one written before.
ImageError
    why one is not to be had.
"""

from rehearsal.images.catalogue import (
    aws_cli_image,
    collector_image,
    lws_manager_image,
    pause_image,
    standin_image,
    vllm_image,
)
from rehearsal.images.errors import ImageError
from rehearsal.images.image import Image

__all__ = [
    "Image",
    "ImageError",
    "aws_cli_image",
    "collector_image",
    "lws_manager_image",
    "pause_image",
    "standin_image",
    "vllm_image",
]
