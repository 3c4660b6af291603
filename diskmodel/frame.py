"""Results as tables of pandas, which is loaded only here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from diskmodel.errors import Fault, MissingPackageError

if TYPE_CHECKING:
    from pandas import DataFrame


def data_frame(rows: Sequence[Mapping[str, Any]], index: str) -> DataFrame:
    """Return rows as a table, indexed by one of their columns.

    Parameters
    ----------
    rows : sequence of mapping
        Values by column; all have the same columns.
    index : str
        The column that names a row.

    Raises
    ------
    MissingPackageError
        When pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingPackageError(
            Fault("to_frame", None, "needs the package pandas", "pip install 'diskmodel[pandas]'")
        ) from None
    return pd.DataFrame.from_records([dict(row) for row in rows], index=index)
