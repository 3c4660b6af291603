"""What a cache is worth with more and with less data in use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.units import in_digits, nominal_bytes

#: A cache is said to pay where it carries this many times what the array alone does. At 1 noise of runs would decide.
PAYS = 1.25


@dataclass(frozen=True)
class WorkingSet(Record):
    """Full load on so much of the data.

    Attributes
    ----------
    span_bytes : int
        Data in use.
    read_hits : float
        Share of the reads that hit the cache; nan without reads.
    iops, alone_iops : float
        Requests a second with all clients waiting, behind the cache and of the array alone.
    """

    span_bytes: int
    read_hits: float
    iops: float
    alone_iops: float

    @property
    def gain(self) -> float:
        """How many times as much the array carries behind its cache."""
        return self.iops / self.alone_iops if self.alone_iops else math.nan

    def json_fields(self) -> Mapping[str, Any]:
        """Return its figures with the gain."""
        return {**super().json_fields(), "gain": self.gain}


@dataclass(frozen=True)
class WorkingSets(Record):
    """Several amounts of data in use, and where the cache no longer pays.

    Attributes
    ----------
    cache_bytes : int
    rows : tuple of WorkingSet
        The least data first.
    """

    cache_bytes: int
    rows: tuple[WorkingSet, ...]

    @property
    def pays_to_bytes(self) -> float:
        """Data in use up to which the cache pays (`PAYS`): 0 nowhere, infinite in all that were tried.

        Between two amounts the gain is taken to change evenly with the logarithm of the data in use.
        """
        last = None
        for row in self.rows:
            if not row.gain >= PAYS:
                break
            last = row
        else:
            return math.inf
        if last is None:
            return 0.0
        first_over = self.rows[self.rows.index(last) + 1]
        share = (last.gain - PAYS) / (last.gain - first_over.gain)
        return float(last.span_bytes * (first_over.span_bytes / last.span_bytes) ** share)

    def json_fields(self) -> Mapping[str, Any]:
        """Return the rows and the end of what pays; None where it pays in all that were tried."""
        end = self.pays_to_bytes
        return {**super().json_fields(), "pays_to_bytes": None if math.isinf(end) else end}

    def table_rows(self) -> list[tuple[str, str]]:
        """Return names and texts of the rows, for a table of figures."""
        found = []
        for row in self.rows:
            hits = "" if math.isnan(row.read_hits) else f", {row.read_hits:.0%} of reads hit"
            text = f"{in_digits(row.iops)}, {in_digits(row.gain)} times the array alone{hits}"
            found.append((f"most IOPS, {nominal_bytes(row.span_bytes)} in use", text))
        return [*found, ("the cache pays", self.in_words())]

    def in_words(self) -> str:
        """Return where the cache pays."""
        end, most = self.pays_to_bytes, nominal_bytes(self.rows[-1].span_bytes)
        much = f"{PAYS:g} times the array alone"
        if not end:
            return f"nowhere: less than {much} with {nominal_bytes(self.rows[0].span_bytes)} in use, too"
        if math.isinf(end):
            return f"with all of {most} in use, too ({much} or more)"
        return f"up to about {nominal_bytes(int(float(f'{end:.2g}')))} in use ({much})"

    def sentence(self) -> str:
        """Return rows and end in one sentence."""
        said = []
        for row in self.rows:
            hits = "" if math.isnan(row.read_hits) else f" ({row.read_hits:.0%} of reads hit)"
            said.append(f"{nominal_bytes(row.span_bytes)} {in_digits(row.gain)}{hits}")
        return (
            f"full load behind the cache, in times of the array alone, by data in use: {', '.join(said)}; "
            f"the cache pays {self.in_words()}"
        )
