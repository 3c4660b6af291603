"""Seek time as a function of distance: from three data-sheet times, as a curve, or as a measured table.

References
----------
C. Ruemmler and J. Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3), 1994.
"""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from diskmodel import units
from diskmodel.description import Description
from diskmodel.drive.seek_fit import root_then_line
from diskmodel.errors import Fault, FormatError, InputError
from diskmodel.input import open_input
from diskmodel.units import MAX_DEVICE_NS, Nanoseconds

Float = NDArray[np.float64]
Int64 = NDArray[np.int64]

#: Seek times that a data sheet omits: track-to-track as a share of the average, and the place of the average between
#: track-to-track (0) and full stroke (1). Rounded medians of those drives in the catalogue whose sheets give them. Half
#: the place makes the full stroke above track-to-track twice as long; the average, which dominates, does not change.
TYPICAL_TRACK_TO_TRACK_RATIO = 0.09
TYPICAL_AVERAGE_PLACE_RATIO = 0.5
#: A seek of a few cylinders, as a share of the average: the arm accelerates and settles, where a seek to the next
#: cylinder needs neither. It fits the measured curves of five drives best (root mean square of the logarithm, seeks of
#: 0.1 to 5 % of all cylinders: 0.11; 0.27 with curves that begin with the seek to the next cylinder, 0.18 at 0.25).
TYPICAL_SETTLE_RATIO = 0.18
#: How much longer an average write seeks than a read, as a share of the read's average, where no sheet prints it: a
#: head must be closer to its track to write. The median of the 25 drives in the catalogue whose sheets print both;
#: 0.07 to 0.11 for drives since 2012, up to 0.3 for earlier ones.
TYPICAL_WRITE_EXCESS_RATIO = 0.12
#: How much longer a write takes to seek to the next cylinder where no sheet prints it, ns, at most as much as its
#: average is longer. Sheets of Seagate print 0.2 ms, those of Hitachi 0.1, where averages differ by 0.5 to 2 ms. Random
#: writes over 1 % of a disk are a third too slow if short seeks take as much longer as long ones; at 0.1 ms cached ones
#: over the whole of a Raptor are 16 % too fast.
TYPICAL_NEAR_EXCESS_NS = 200_000
#: Highest place of the average of a write; a square root gives 0.53, and the lowest exponent of `seek_fit` 0.73 over
#: 1,000 cylinders and 0.80 over 100,000.
_MAX_WRITE_PLACE_RATIO = 0.72
#: Distances up to which pieces of a table are interpolated together. At half or double it takes as long.
_SHORT_PIECE = 64


_TIME = cast(dict[str, Any], units.SUFFIXES["_ns"])


def _fraction_of_ns(value: object) -> object:
    return float(units.parse(value, _TIME)) if isinstance(value, str) else value


_FineNanoseconds = Annotated[float, BeforeValidator(_fraction_of_ns), Field(ge=0, le=MAX_DEVICE_NS)]


class SeekTimes(Description):
    """The seek times of a data sheet.

    The curve is ``a + b*sqrt(d)`` up to a joint and a straight line with the same slope beyond. It passes through the
    track-to-track and full-stroke times; with `settle_ns`, it begins with that instead, and only the seek to the next
    cylinder takes the track-to-track time. Its mean over all pairs of different cylinders is the average (the
    manufacturers' definition: every pair equally likely, whatever the number of sectors on the cylinders). Where the
    average is too close to the full stroke for a square root, the exponent is lowered and there is no straight part.

    Attributes
    ----------
    track_to_track_ns : int, optional
        Seek to the next cylinder; default: 9 % of the average.
    average_ns : int
    full_stroke_ns : int, optional
        Seek over all cylinders; default: such that the average is half-way between the other two.
    average_write_ns : int, optional
        Average seek of writes; default: 12 % longer than that of reads. Over the full stroke a write takes as much
        longer as on average.
    track_to_track_write_ns : int, optional
        Seek of a write to the next cylinder; default: 0.2 ms longer than that of a read, or as much as the average.
    settle_ns : int, optional
        Least seek over more than one cylinder, which no data sheet prints; 18 % of the average in measured curves.
        Default: as `track_to_track_ns`, which makes seeks over less than a tenth of the disk too short where that is
        a small part of the average.
    """

    kind: Literal["times"] = "times"
    track_to_track_ns: Annotated[Nanoseconds, Field(gt=0)] | None = None
    average_ns: Annotated[Nanoseconds, Field(gt=0)]
    full_stroke_ns: Annotated[Nanoseconds, Field(gt=0)] | None = None
    average_write_ns: Annotated[Nanoseconds, Field(gt=0)] | None = None
    track_to_track_write_ns: Annotated[Nanoseconds, Field(gt=0)] | None = None
    settle_ns: Annotated[Nanoseconds, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        track, full = self.resolved()
        if not track < self.average_ns < full:
            raise ValueError(
                "track_to_track < average < full_stroke: is violated; compare the three times with the data sheet"
            )
        if self.average_write_ns is not None and self.average_write_ns < self.average_ns:
            raise ValueError(
                "average_write: must not be shorter than average; leave it out if the data sheet does not give it"
            )
        near = self.track_to_track_write_ns
        if near is not None and not track <= near <= track + self.write_excess_ns:
            raise ValueError(
                "track_to_track_write: must be at least track_to_track, and longer by no more than the average is; "
                "0.1 to 0.2 ms more than track_to_track is usual"
            )
        if self.settle_ns is not None and not track <= self.settle_ns < self.average_ns:
            raise ValueError(
                "settle: must be at least track_to_track and less than average; "
                f"about {TYPICAL_SETTLE_RATIO:.0%} of the average is usual"
            )
        return self

    def resolved(self) -> tuple[int, int]:
        """Return the track-to-track and full-stroke times in ns, given or assumed."""
        track = self.track_to_track_ns or round(TYPICAL_TRACK_TO_TRACK_RATIO * self.average_ns)
        full = self.full_stroke_ns or round(track + (self.average_ns - track) / TYPICAL_AVERAGE_PLACE_RATIO)
        return track, full

    @property
    def write_excess_ns(self) -> int:
        """How much longer an average write seeks than an average read, given or assumed."""
        if self.average_write_ns is None:
            return round(TYPICAL_WRITE_EXCESS_RATIO * self.average_ns)
        return self.average_write_ns - self.average_ns

    def of_writes(self) -> SeekTimes | None:
        """Return the times of writes; None where writes seek as reads do."""
        excess = self.write_excess_ns
        if not excess:
            return None
        track, full = self.resolved()
        given = self.track_to_track_write_ns
        near = min(TYPICAL_NEAR_EXCESS_NS, excess) if given is None else given - track
        track, average = track + near, self.average_ns + excess
        settle = None if self.settle_ns is None else self.settle_ns + near
        first = settle or track
        return SeekTimes(
            track_to_track_ns=track,
            average_ns=average,
            full_stroke_ns=max(full + excess, round(first + (average - first) / _MAX_WRITE_PLACE_RATIO)),
            settle_ns=settle,
        )

    def one_cylinder_ns(self) -> int:
        """Return the time of a seek to the next cylinder."""
        return self.resolved()[0]

    def curve_ns(self, n_cylinders: int) -> Int64:
        """Return the seek time by distance, int64 of shape (n_cylinders,), entry 0 is 0.

        Raises
        ------
        ValueError
            When no concave or straight curve passes through the three times.
        """
        track, full = self.resolved()
        first = track if self.settle_ns is None else self.settle_ns
        curve = _rounded(root_then_line(n_cylinders - 1, float(first), float(self.average_ns), float(full)))
        curve[1] = track
        return curve


class SeekCurve(Description):
    """A seek curve: ``a + b*sqrt(d)`` for distances below the joint, ``c + e*d`` from the joint on.

    Attributes
    ----------
    a_ns : int
    b_ns_per_root : float
        Nanoseconds for each square root of a cylinder.
    c_ns : int, optional
        Default: such that the two parts meet at the joint.
    e_ns_per_cylinder : float
    joint_cylinders : int, optional
        Default: the root continues to the end, without c and e.
    """

    kind: Literal["curve"]
    a_ns: Nanoseconds
    b_ns_per_root: _FineNanoseconds
    c_ns: Nanoseconds | None = None
    e_ns_per_cylinder: _FineNanoseconds = 0.0
    joint_cylinders: Annotated[int, Field(ge=1, le=1 << 22)] | None = None

    @model_validator(mode="after")
    def _continuous(self) -> Self:
        if self.a_ns + self.b_ns_per_root <= 0:
            raise ValueError("a + b: must be above 0, because no seek is free; check the units")
        if self.joint_cylinders is not None and self.c_ns is not None:
            below = self.a_ns + self.b_ns_per_root * self.joint_cylinders**0.5
            above = self.c_ns + self.e_ns_per_cylinder * self.joint_cylinders
            if abs(above - below) > 1000:
                raise ValueError(
                    f"joint_cylinders: the two parts differ by {abs(above - below) / 1000:.3g} us there; "
                    f"leave c out, or set c to {below - self.e_ns_per_cylinder * self.joint_cylinders:.0f} ns"
                )
        return self

    def of_writes(self) -> None:
        """Return None: a curve has no times of its own for writes."""

    def one_cylinder_ns(self) -> int:
        """Return the time of a seek to the next cylinder."""
        return int(self.curve_ns(2)[1])

    def curve_ns(self, n_cylinders: int) -> Int64:
        """Return the seek time by distance, int64 of shape (n_cylinders,), entry 0 is 0."""
        distance = np.arange(n_cylinders, dtype=np.float64)
        curve = self.a_ns + self.b_ns_per_root * np.sqrt(distance)
        joint = self.joint_cylinders
        if joint is not None:
            line = self.e_ns_per_cylinder * distance
            start = self.c_ns
            if start is None:
                line += self.a_ns + self.b_ns_per_root * joint**0.5 - self.e_ns_per_cylinder * joint
            else:
                line += start
            curve = np.where(distance < joint, curve, line)
        return _rounded(curve)


class SeekTable(Description):
    """Measured seek times, interpolated linearly between the measured distances.

    Measured points are used unchanged, even where a longer seek took less time; smoothing is the task of a fit. Below
    the first distance its time applies; beyond the last one the line from the middle of the table to its last point is
    extended.

    Attributes
    ----------
    distance : tuple of int
        Cylinders, increasing, from 1 on.
    time_ms : tuple of float
        Milliseconds.
    """

    kind: Literal["table"]
    distance: tuple[Annotated[int, Field(ge=1, le=1 << 22)], ...] = Field(min_length=2)
    time_ms: tuple[Annotated[float, Field(gt=0, le=3_600_000)], ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if len(self.distance) != len(self.time_ms):
            raise ValueError(
                f"distance: has {len(self.distance)} entries, but time_ms has {len(self.time_ms)}; write one time for "
                "each distance"
            )
        if any(map(operator.le, self.distance[1:], self.distance)):
            raise ValueError("distance: must increase; sort the table and keep one time for each distance")
        return self

    def of_writes(self) -> None:
        """Return None: a table has no times of its own for writes."""

    def one_cylinder_ns(self) -> int:
        """Return the time of a seek to the next cylinder: at the first distance, or below it."""
        return round(self.time_ms[0] * 1e6)

    def curve_ns(self, n_cylinders: int) -> Int64:
        """Return the seek time by distance, int64 of shape (n_cylinders,), entry 0 is 0."""
        # each piece by itself, as `numpy.interp` computes it, which searches for the piece of each distance
        known, times = np.array(self.distance, np.int64), np.array(self.time_ms) * 1e6
        middle = (len(known) - 1) // 2
        beyond = max(0.0, float((times[-1] - times[middle]) / (known[-1] - known[middle])))
        slopes = np.append(np.diff(times) / np.diff(known), beyond)
        lengths = np.diff(np.append(known, max(n_cylinders, known[-1])))
        curve = np.empty(n_cylinders, np.int64)
        curve[: known[0]] = round(float(times[0]))
        steps = np.arange(min(int(lengths.max()), n_cylinders), dtype=np.float64)
        # short pieces, of which a table has most, all at once
        n_short = int(np.argmax(lengths > _SHORT_PIECE)) if lengths.max() > _SHORT_PIECE else len(lengths)
        piece_of = np.repeat(np.arange(n_short), lengths[:n_short])
        short = curve[known[0] :][: len(piece_of)]
        distance = np.arange(known[0], known[0] + len(short))
        piece_of = piece_of[: len(short)]
        short[:] = np.rint((distance - known[piece_of]) * slopes[piece_of] + times[piece_of])
        ends = [*known[1:], n_cylinders]
        for at in range(n_short, len(known)):
            piece = curve[known[at] : ends[at]]
            ns = steps[: len(piece)] * slopes[at]
            ns += times[at]
            piece[:] = np.rint(ns, out=ns)
        curve[0] = 0
        return curve


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("kind", "times"))
    return str(getattr(value, "kind", "times"))


Seek = Annotated[
    Annotated[SeekTimes, Tag("times")] | Annotated[SeekCurve, Tag("curve")] | Annotated[SeekTable, Tag("table")],
    Discriminator(_kind),
]


#: A line a cylinder, of some 20 bytes, for a million cylinders: no drive has more.
MAX_SEEK_FILE_BYTES = 32 << 20


def read_seek_file(path: str | Path) -> SeekTable:
    """Return the seek table in a text file of "distance, milliseconds" lines; a first line of text is a heading.

    Raises
    ------
    FormatError
        When the file cannot be read, or a line is not a pair of numbers.
    """
    path = Path(path)
    try:
        with open_input(path) as file:
            lines = file.read(MAX_SEEK_FILE_BYTES).decode("utf-8-sig").splitlines()
    except InputError as error:
        raise FormatError(error.faults) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(Fault("file", str(path), f"cannot be read: {error}", "check the path")) from None
    distances: list[int] = []
    times: list[float] = []
    faults: list[Fault] = []
    for number, line in enumerate(lines, start=1):
        fields = line.replace(",", " ").split()
        if not fields or line.lstrip().startswith("#"):
            continue
        try:
            left, right = fields
            distances.append(int(left))
            times.append(float(right))
        except ValueError:
            if number > 1:
                faults.append(
                    Fault(f"line {number}", line, "must be a distance and a time", "write for example: 10, 1.53")
                )
    if faults:
        raise FormatError(faults, str(path))
    if len(distances) != len(times) or len(distances) < 2:
        raise FormatError(Fault("file", str(path), "has fewer than two measured distances", "measure more distances"))
    return SeekTable.parse({"kind": "table", "distance": distances, "time_ms": times}, str(path))


def _rounded(curve_ns: Float) -> Int64:
    rounded = np.rint(curve_ns).astype(np.int64)
    rounded[0] = 0
    return rounded
