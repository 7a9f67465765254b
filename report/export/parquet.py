"""Flat tables as Parquet, where the writer is installed: it is an extra, since nothing else needs it."""

from io import BytesIO

from experiment.errors import SplitbedError
from report.export.flat import Flat

EXTRA = "arro3-core and arro3-io"


class NoParquetError(SplitbedError):
    """The writer is not there."""


def to_parquet(flat: Flat) -> bytes:
    """Return a table as Parquet.

    Raises:
        NoParquetError: the writer is not installed.
    """
    try:
        from arro3.core import Array, DataType, Table
        from arro3.io import write_parquet
    except ImportError:
        raise NoParquetError(
            f"Parquet is written by {EXTRA}, which are not installed.",
            "Install splitbed[parquet], or take --format csv.",
        ) from None
    kinds = {str: DataType.utf8(), int: DataType.int64(), float: DataType.float64(), bool: DataType.bool()}
    columns = [Array(flat.column(name), kinds[kind]) for name, kind in flat.types.items()]
    out = BytesIO()
    write_parquet(Table.from_arrays(columns, names=list(flat.types)), out)
    return out.getvalue()
