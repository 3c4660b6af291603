"""Results as tables: for pandas, and as Arrow, which pandas, polars, DuckDB and others read.

Both libraries are loaded when a table is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from diskmodel.errors import Fault, MissingPackageError

if TYPE_CHECKING:
    from pandas import DataFrame

Loaded = TypeVar("Loaded")


class Tabular:
    """Base of results that are a table.

    Attributes
    ----------
    row_name : str
        The column that names a row.
    """

    row_name: ClassVar[str]

    def table_rows(self) -> list[dict[str, Any]]:
        """Return values by column; all rows have the same columns."""
        raise NotImplementedError

    def to_frame(self) -> DataFrame:
        """Return `table_rows` as a table of pandas, indexed by the column that names a row.

        Raises
        ------
        MissingPackageError
            When pandas is not installed.
        """
        pandas = needed("to_frame", "pandas", lambda: __import__("pandas"), extra="pandas")
        frame: DataFrame = pandas.DataFrame.from_records(self.table_rows(), index=self.row_name)
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return `table_rows` as a stream of Arrow, of one batch; what is unknown is null.

        This is Arrow's PyCapsule interface: `polars.DataFrame(result)`, `pandas.DataFrame.from_arrow(result)` and
        `pyarrow.table(result)` call it. The schema is that of the rows, whatever is requested.
        """
        return _arrow_stream(self.table_rows())


def needed(field: str, package: str, load: Callable[[], Loaded], *, extra: str = "") -> Loaded:
    """Return what `load` imports.

    Parameters
    ----------
    field : str
        What the package is needed for.
    package : str
    load : callable
    extra : str
        The extra of diskmodel that installs it; "": diskmodel itself does.

    Raises
    ------
    MissingPackageError
        When the package is not installed.
    """
    try:
        return load()
    except ImportError as error:
        if isinstance(error, MissingPackageError) or (error.name or package).split(".")[0] != package:
            raise
        fix = f"pip install 'diskmodel[{extra}]'" if extra else f"pip install {package}"
        raise MissingPackageError(Fault(field, None, f"needs the package {package}", fix)) from None


def _arrow_stream(rows: Sequence[Mapping[str, Any]]) -> object:
    """Return rows as a capsule with a stream of Arrow."""
    arrow = needed("__arrow_c_stream__", "nanoarrow", lambda: __import__("nanoarrow"))
    columns = {name: [_known(row[name]) for row in rows] for name in (rows[0] if rows else ())}
    types = {name: getattr(arrow, _type_of(values))() for name, values in columns.items()}
    batch = arrow.c_array_from_buffers(
        arrow.struct(types),
        len(rows),
        [None],
        children=[arrow.c_array(values, types[name]) for name, values in columns.items()],
    )
    return arrow.c_array_stream(batch).__arrow_c_stream__()


def _known(value: Any) -> Any:
    """Return a value; None where it is unknown."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _type_of(values: Sequence[Any]) -> str:
    """Return the type of a column: that of its known values."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "bool_"
    if kinds == {int}:
        return "int64"
    return "string" if kinds == {str} else "float64"
