"""Tomorrow's experiment runs what today's did."""

from collections.abc import Iterator, Mapping

from pydantic import TypeAdapter, ValidationError

from experiment.images import ImageReference
from policies.inside import containers
from policies.rule import Rule
from policies.seen import Seen

_IMAGE: TypeAdapter[str] = TypeAdapter(ImageReference)
_CHARTS = ("kubernetes:helm.sh/v3:Release", "kubernetes:helm.sh/v3:Chart", "kubernetes:helm.sh/v4:Chart")


def _complaints(seen: Seen) -> Iterator[str]:
    if not seen.type.startswith("kubernetes:"):
        return
    for container in containers(seen.props):
        image = container.get("image") or ""
        if isinstance(image, str):
            name = container.get("name", "without a name")
            for why, remedy in _wrong(image):
                yield f"Container {name} has image {image!r}: {why}. {remedy}"
    if seen.type in _CHARTS:
        yield from _chart(seen.props)


def _wrong(image: str) -> Iterator[tuple[str, str]]:
    try:
        _IMAGE.validate_python(image)
    except ValidationError as error:
        for detail in error.errors():
            yield detail["msg"], detail["ctx"]["remedy"]


def _chart(props: Mapping[str, object]) -> Iterator[str]:
    chart = props.get("chart")
    remote = "repositoryOpts" in props or (isinstance(chart, str) and "://" in chart)
    if remote and not props.get("version"):
        yield f"Chart {chart} has no version. Name one, so that no other is installed tomorrow."


PINNED = Rule(
    "pinned",
    "Every image has a digest or the tag of a version, and every chart from a registry its version.",
    _complaints,
)
