"""Drives fitted to fio's results at four depths, and predicted at those between; run as a script it writes the page.

The fit is that of `diskmodel calibrate`, from a file of fio with the capacity as the only other input. Each condition
is then simulated on the profile and compared with fio's rate and p99.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from calibrate.calibration import Calibration
from calibrate.fit import calibrate
from calibrate.hdd.from_fio.conditions import Condition, conditions_of
from calibrate.hdd.from_fio.measured_array import MeasuredArray
from diskmodel.array import Array
from diskmodel.drive import Drive, Hdd
from diskmodel.formats import read_fio
from tests.validation.fits.measured import of_drive, points, write_fio

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation-fio-fits.md"
#: Depths that the fit sees.
FITTED = (1, 4, 16, 64)
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
#: Capacities of the hard disks, from their names; flash is fitted without one.
CAPACITIES_BYTES = {"Samsung F1 1 TB": 10**12, "WD Raptor 74 GB": 74 * 10**9, "HGST HTS72101 (P420i)": 100 * 10**9}
#: Of the predictions, and requests of each: p99 scatters by 2 to 3 %.
SEED, N_REQUESTS = 1, 12_000
#: Commands that a SATA drive takes at once.
SATA_DEPTH = 32
#: In the names of drives that were measured behind AHCI.
AHCI = "MicroServer"
#: Errors that are required.
REQUIRED_RATE, REQUIRED_P99 = 0.1, 0.2


@dataclass(frozen=True)
class Error:
    """A condition predicted by the profile.

    Attributes
    ----------
    op : "read" or "write"
    depth : int
    iops_ratio, p99_ratio : float
        Predicted by measured, less 1.
    """

    op: str
    depth: int
    iops_ratio: float
    p99_ratio: float

    @property
    def is_fitted(self) -> bool:
        """Return whether the fit saw this condition."""
        return self.depth in FITTED


@dataclass(frozen=True)
class Case:
    """A drive, its fit, and the errors of all conditions."""

    drive: str
    calibration: Calibration
    errors: tuple[Error, ...]

    def of(self, op: str) -> list[Error]:
        """Return the errors of one operation."""
        return [error for error in self.errors if error.op == op]


def drives() -> list[str]:
    """Return the names of the drives of the table."""
    return list(dict.fromkeys(point.drive for point in points()))


@cache
def case(drive: str) -> Case:
    """Return the fit of a drive and its errors."""
    measured = of_drive(drive)
    with tempfile.TemporaryDirectory() as folder:
        evidence = write_fio(Path(folder) / "fitted.json", [point for point in measured if point.depth in FITTED])
        fitted = calibrate(evidence, capacity_bytes=CAPACITIES_BYTES.get(drive))
        conditions = conditions_of(read_fio(write_fio(Path(folder) / "all.json", measured)))
    return Case(drive, fitted, tuple(_error(fitted, drive, condition) for condition in conditions))


def _error(fitted: Calibration, name: str, condition: Condition) -> Error:
    predicted = _measured_array(fitted.drive, name, condition.depth).predict(fitted.drive, condition, SEED)
    return Error(
        condition.op,
        condition.depth,
        predicted.iops / condition.iops - 1,
        predicted.percentiles_ns[99.0] / condition.percentiles_ns[99.0] - 1,
    )


def _measured_array(drive: Drive, name: str, depth: int) -> MeasuredArray:
    """Return the drive on the host that measured it: through AHCI it takes 32 commands, and Linux sorts the others."""
    if isinstance(drive, Hdd):
        return MeasuredArray(n_requests=N_REQUESTS)
    is_sorted = depth > SATA_DEPTH and AHCI in name
    above = {"scheduler": "mq-deadline", "drive_depth": SATA_DEPTH} if is_sorted else {}
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}, "queue": above})
    return MeasuredArray(array, n_requests=N_REQUESTS)


INTRODUCTION = """# Drives fitted to fio's results

`diskmodel calibrate` fits a drive to fio's rates and percentiles at queue depths 1, 4, 16 and 64, random reads and
writes of 4 KiB, with nothing else but the capacity of hard disks. Here its profile predicts the depths between, which
the fit does not see. These are all drives of one collection of fio results whose depths were varied:
[fio-plot](https://github.com/louwrentius/fio-plot)'s history, carried as `tests/data/fio-depths.csv`. A drive that was
measured in several hosts, or twice, has a row for each. `make fits` writes this page; nothing is adjusted to a row.

*Converged* is what the fit says of itself. It is the only thing that a user sees without measuring more, so the table
below divides the drives by it. Errors are predicted by measured, less one.
"""

SUMMARY = """
| held-out depths 2, 8 and 32 | n | median error of the rate | within 10 % | median error of p99 | within 20 % |
|---|--:|--:|--:|--:|--:|
"""

REMARKS = """
What is behind the large errors:

- **Behind a P420i** (and its mode as a plain adapter) the controller reports completions together, about 100 µs apart:
  four outstanding requests are no faster than two, and eight are twice as fast. No drive does that, and no
  description here has such a controller. None of these fits claims to have converged.
- **Single reads and writes** of flash take longer for each than two at a time on some hosts: the processor sleeps
  between them, at depth 2 hardly. Depths 1 and 4 alone do not separate that from the drive, whose overhead is then too
  long at depth 2 (Intel's and Samsung's in the MicroServer G10, Kingston's; by up to 35 %). A fit does not count as
  converged where more than 30 % of the time of single requests passes between a completion and the next request.
- **Percentiles of flash are fitted at depth 1 alone**, those of reads: how single ones scatter becomes a table of
  delays. In the MicroServer G10 most take 40 µs and the slowest 5 % three times as long. fio's percentiles leave out
  the host's time before and after a request, which the fit has in the drive: p99 at depth 1 is 10 % too long for that.
  Percentiles of writes are not fitted. A fit whose p99 is off by more than 25 % at most depths does not count as
  converged.
- **Writes of the Crucial drives** and of the 860 Pro behind an M1015 stop for milliseconds while the drive makes room.
  The fit of writes has no garbage collection.
- **Single writes of hard disks**: which of the cached writes the firmware waits for, and when it stops to take more, is
  fitted to rates alone.
- **The USB disk** answers some requests after 10 to 100 ms.

Behind AHCI a drive takes 32 commands, and Linux's mq-deadline sorts the others. The prediction has that, and p99 at
depth 64 of four of the five rows of the MicroServer G8 is within 2 %; in the order of arrival it would be half as long.
Adapters order otherwise: behind them depth 64 is predicted in the order of arrival.

The speed of rotation is found, or said to be unknown: the Raptor's reads exclude 7,200 rpm, not 15,000, and the fit
takes the 10,000 rpm that fit best. Those of the Samsung F1 leave 5,400 rpm open, and it gets the usual 7,200, its own.

Not fitted, because nothing here describes them: the floppy disk of the same collection (300 rpm), and its md RAID 0
arrays of flash behind a P420i.
"""


def summary(cases: Iterable[Case]) -> dict[tuple[bool, str], list[Error]]:
    """Return the held-out errors by whether the fit says that it has converged, and operation."""
    found: dict[tuple[bool, str], list[Error]] = {(c, op): [] for c in (True, False) for op in ("read", "write")}
    for each in cases:
        for error in each.errors:
            if not error.is_fitted:
                found[each.calibration.has_converged, error.op].append(error)
    return found


def page(cases: Sequence[Case]) -> str:
    """Return the page as Markdown."""
    text = [INTRODUCTION.rstrip("\n"), SUMMARY.rstrip("\n")]
    for (has_converged, op), errors in summary(cases).items():
        rates, p99s = ([abs(getattr(e, name)) for e in errors] for name in ("iops_ratio", "p99_ratio"))
        said = "converged" if has_converged else "not converged"
        figures = [_percent(np.median(rates)), _share(rates, REQUIRED_RATE), _percent(np.median(p99s))]
        text.append(f"| {said}: {op}s | {len(errors)} | {' | '.join(figures)} | {_share(p99s, REQUIRED_P99)} |")
    text.append(REMARKS.rstrip("\n"))
    for op in ("read", "write"):
        text += ["", f"## {op.capitalize()}s", "", "Error of the rate, error of p99; held-out depths in bold.", ""]
        text.append(f"| drive | converged | {' | '.join(f'depth {depth}' for depth in DEPTHS)} |")
        text.append("|---|---|" + "--:|" * len(DEPTHS))
        text += [line(each, op) for each in cases]
    return "\n".join([*text, ""])


def line(each: Case, op: str) -> str:
    """Return the row of a drive in the table of an operation."""
    cells = {e.depth: f"{e.iops_ratio:+.0%}, {e.p99_ratio:+.0%}" for e in each.of(op)}
    shown = [cells.get(depth, "") for depth in DEPTHS]
    shown = [f"**{cell}**" if cell and d not in FITTED else cell for d, cell in zip(DEPTHS, shown, strict=True)]
    return f"| {each.drive} | {'yes' if each.calibration.has_converged else 'no'} | {' | '.join(shown)} |"


def _percent(value: float | np.floating) -> str:
    return f"{100 * value:.1f} %"


def _share(errors: Sequence[float], required: float) -> str:
    return f"{np.mean(np.array(errors) <= required):.0%}".replace("%", " %")


if __name__ == "__main__":
    PAGE.write_text(page([case(drive) for drive in drives()]), encoding="utf-8")
