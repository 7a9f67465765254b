"""Results that were published as figures and not as records: typed off, with their source."""

from typing import Annotated, Literal

from pydantic import Field

from experiment.measure.part import Amount, Part
from report.verdict.figures import Better


class TypedCell(Part):
    """What a source says of one cell; `values` are its repeats, or the ends of the range that it names."""

    test: str
    kind: str
    cell: str
    value: int | float | str | None = None
    figure: str = Field(description="as the figures of records are named, or a name of its own")
    title: str
    unit: str
    better: Better
    judged: bool = Field(True, description="the one figure of its cell that decides")
    values: Annotated[tuple[Amount, ...], Field(min_length=1)]
    quote: str = Field(min_length=1, description="the words or the row of the source")


class TypedResult(Part):
    """The figures of one topology of one source; one run, so they are described and never judged."""

    kind: Literal["typed"]
    schema_version: Literal[1]
    source: Annotated[str, Field(min_length=1)]
    label: Annotated[str, Field(min_length=1)]
    model: str
    hardware: str
    engine: str
    cells: Annotated[tuple[TypedCell, ...], Field(min_length=1)]
