"""Fields that all kinds of drives have in common."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from diskmodel.description import Description
from diskmodel.drive.card import Card
from diskmodel.units import Bytes


class Uncertainty(Description):
    """Joint uncertainty of fitted parameters.

    Attributes
    ----------
    names : tuple of str
        Fields of the profile, nested ones with dots (``seek.a_ns``).
    covariance : tuple of tuples of float, shape (n, n)
        In the product of the fields' own units.
    draws : tuple of tuples of float, shape (m, n), optional
        Equally likely values of the fields. If given, drives are drawn from these rows instead of the covariance, which
        cannot describe, for example, a number of dies that is 6 or 12 with other times for each.
    queues : tuple of tables, optional
        Of a hard disk: queues, as `queue` is written, that fit what was measured as well as its own. Each, and its own
        among them, is as likely as the others.
    """

    names: tuple[str, ...] = Field(min_length=1)
    covariance: tuple[tuple[float, ...], ...]
    draws: tuple[tuple[float, ...], ...] | None = Field(default=None, min_length=2)
    queues: tuple[dict[str, Any], ...] | None = Field(default=None, min_length=2)

    @model_validator(mode="after")
    def _rows(self) -> Self:
        n = len(self.names)
        for i, row in enumerate(self.draws or ()):
            if len(row) != n:
                raise ValueError(
                    f"draws: must have rows of {n} numbers, one for each name, but row {i} has {len(row)}; complete it"
                )
        return self

    @model_validator(mode="after")
    def _square(self) -> Self:
        n = len(self.names)
        if len(self.covariance) != n or any(len(row) != n for row in self.covariance):
            raise ValueError(f"covariance: must have {n} rows of {n} numbers; add one for each name")
        for i in range(n):
            for j in range(i + 1):
                a, b = self.covariance[i][j], self.covariance[j][i]
                if abs(a - b) > 1e-6 * max(abs(a), abs(b)):
                    raise ValueError(
                        f"covariance: must be symmetric, but entries ({i}, {j}) and ({j}, {i}) differ; make them equal"
                    )
                if b * b > 1.000001 * self.covariance[i][i] * self.covariance[j][j]:
                    raise ValueError(
                        f"covariance: entry ({i}, {j}) exceeds the square root of its variances' product; lower it"
                    )
        return self


#: Entry of the provenance of a calibrated profile that says why its fit has not converged.
NOT_CONVERGED = "not_converged"
#: Entry of the provenance of a calibrated profile: by how much it misses the means that it was fitted to, as a share.
MISFIT = "misfit_ratio"
#: The same of p99, as a logarithm: percentiles are off by factors.
TAIL_MISFIT = "tail_misfit_log"


#: How the source of a profile begins that stands for its kind.
CLASS_VALUES = "class values"


class Profile(Card, Description):
    """Fields of every drive; what each kind answers beside them is its card (`diskmodel/drive/card.py`).

    Attributes
    ----------
    name : str
    source : str
        Data sheet, manual or measurement that the figures come from.
    year : int, optional
        When the drive came out.
    form_factor, bus : str
        In common terms: "3.5 inch", "SAS 12 Gb/s".
    capacity_bytes : int
        A multiple of `sector_bytes`.
    sector_bytes : int
        Size of a logical block.
    price_usd, power_w : float, optional
    mttf_hours, ure_per_bit : float, optional
        Mean time to failure and rate of unrecoverable read errors, for reliability estimates.
    notes : str
        Figures that the source does not give, and what was assumed instead.
    provenance : dict
        Origin of a calibrated profile.
    uncertainty : Uncertainty, optional
        Uncertainty of the parameters of a calibrated profile.
    exact : bool, optional
        Whether the drive is exactly as described, such as one of an exercise. Otherwise it differs from its description
        as much as drives of its class do, and intervals include that.
    """

    name: str
    source: str = ""
    year: Annotated[int, Field(ge=1956, le=2100)] | None = None
    form_factor: str = ""
    bus: str = ""
    capacity_bytes: Annotated[Bytes, Field(gt=0)]
    sector_bytes: Annotated[Bytes, Field(ge=512, le=4096)] = 512
    price_usd: Annotated[float, Field(ge=0)] | None = None
    power_w: Annotated[float, Field(ge=0)] | None = None
    mttf_hours: Annotated[float, Field(gt=0)] | None = None
    ure_per_bit: Annotated[float, Field(ge=0, lt=1)] | None = None
    notes: str = ""
    provenance: dict[str, Any] = Field(default_factory=dict)
    uncertainty: Uncertainty | None = None
    exact: bool | None = None

    @model_validator(mode="after")
    def _whole_sectors(self) -> Self:
        rest = self.capacity_bytes % self.sector_bytes
        if rest:
            raise ValueError(
                f"capacity_bytes={self.capacity_bytes}: must be a multiple of sector_bytes={self.sector_bytes}; "
                f"try {self.capacity_bytes - rest}"
            )
        return self

    @property
    def is_typical(self) -> bool:
        """Whether this is no drive that can be bought, but what is usual of its kind."""
        return self.source.startswith(CLASS_VALUES)

    @property
    def is_sold_with_cache_on(self) -> bool:
        """Whether drives of its interface come with their write cache on: SATA ones do, SAS ones do not."""
        return any(word in self.bus for word in ("SATA", "ATA-"))

    @property
    def doubt(self) -> str:
        """Why not to rely on the profile: its fit has not converged, or nothing is known of its kind; "" elsewhere."""
        why = self.provenance.get(NOT_CONVERGED)
        if not why:
            return "" if self.spread_class or self.exact else self._unknown_spread
        return (
            f"the profile of {self.name} does not describe the drive that was measured ({why}), so this answer may be "
            "far off; see the warnings of calibrate, and measure what the profile misses"
        )

    @property
    def _unknown_spread(self) -> str:
        return (
            f"nothing is known of how far drives such as {self.name} are from their descriptions, and the intervals of "
            "this answer do not include it: measure the drive, or say exact = true"
        )

    @property
    def n_sectors(self) -> int:
        """Logical blocks."""
        return self.capacity_bytes // self.sector_bytes
