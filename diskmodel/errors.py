"""What can go wrong, as one small tree of exceptions with stable codes.

Bad input is told as faults: which field, which value, which rule it breaks, what to do about it.
All faults of one input are raised together, before anything runs. Expected bad news (an infeasible plan, an
unstable array, a fit that has not converged) is a result and never an exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

#: Characters of an input that a message quotes, and that a rule or a fix may take.
MOST_QUOTED = 200
MOST_SAID = 1200


@dataclass(frozen=True)
class Fault:
    """One fault of an input: where it is, what stood there, the rule it breaks, and the fix."""

    field: str
    value: object
    rule: str
    fix: str = ""

    def __str__(self) -> str:
        place = _cut(self.field, MOST_QUOTED)
        if self.value is not None:
            place += f"={_cut(_shown(self.value), MOST_QUOTED)}"
        text = f"{place}: {_cut(self.rule, MOST_SAID)}"
        return printable(f"{text}; {_cut(self.fix, MOST_SAID)}" if self.fix else text)


def _shown(value: object) -> str:
    try:
        return repr(value)
    except ValueError:  # whole numbers of more than 4300 digits
        return f"a number of {int(value).bit_length()} bits" if isinstance(value, int) else type(value).__name__


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def printable(text: str) -> str:
    """`text` with half a surrogate pair, which JSON may hold and no stream takes, as its escape."""
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")


def visible(text: str) -> str:
    """Return `text` with control characters, which a terminal would obey, as their escapes; line ends and tabs stay."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class DiskmodelError(Exception):
    """Base of everything this project raises on purpose."""

    code = "error"
    exit_status = 1


class InputError(DiskmodelError):
    """Bad input. `faults` lists every fault found; `source` names the file or object they are in."""

    code = "input"
    exit_status = 2

    def __init__(self, faults: Iterable[Fault] | Fault, source: str = "") -> None:
        self.faults: tuple[Fault, ...] = (faults,) if isinstance(faults, Fault) else tuple(faults)
        self.source = source
        super().__init__(self.faults, source)

    def __str__(self) -> str:
        head = f"{self.source}: " if self.source else ""
        if len(self.faults) == 1:
            return f"{head}{self.faults[0]}"
        return f"{head}{len(self.faults)} faults\n" + "\n".join(f"  {fault}" for fault in self.faults)


class DescriptionError(InputError):
    """A description (drive, array, workload, objective) that breaks a rule."""

    code = "description"


class FormatError(InputError):
    """A file that is not what it should be, or has a malformed line."""

    code = "format"


class OutputError(InputError):
    """A result that may not or cannot be written where it should go; what was there before is as it was."""

    code = "output"


class CoverageError(InputError):
    """The engine that was asked for does not cover the scenario; nothing falls back silently."""

    code = "coverage"


class MeasurementError(InputError):
    """A measurement that may not or cannot be made here (safety, permission, no direct I/O)."""

    code = "measurement"


class MountError(InputError):
    """A virtual drive that cannot be mounted here (place, permission, no FUSE), or not be served."""

    code = "mount"


class ConservationError(DiskmodelError):
    """A law that holds in every run was broken (Little's law, utilisation law, a lost request): our own fault."""

    code = "conservation"


class KernelError(DiskmodelError):
    """The native kernel broke off in the middle of a run: our own fault, whatever the input was.

    Parameters
    ----------
    what : str
        What the kernel said, and where.
    """

    code = "kernel"

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)

    def __str__(self) -> str:
        return printable(
            f"the kernel broke off: {_cut(self.what, MOST_SAID)}; this is a fault of diskmodel and not of its input: "
            "please report it with this message, the version and the files that were run; "
            'engine = "simpy" may do meanwhile'
        )
