"""The exceptions of diskmodel: one small tree with stable codes.

Bad input is reported as faults: the field, its value, the rule it breaks and how to fix it. All faults of one input are
raised together, before anything runs. Expected bad news (an infeasible plan, an unstable array, a fit that did not
converge) is a result, never an exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Self

from diskmodel.loading import dataclass

#: Characters of an input that a message quotes, and of a rule or a fix; what is longer is cut off with an ellipsis.
#: 200 leaves a message on a few lines when someone names a binary file; 1200 fits every list of choices.
MAX_QUOTED = 200
MAX_TEXT = 1200


@dataclass(frozen=True)
class Fault:
    """One fault of an input: the field, its value, the rule it breaks, and the fix."""

    field: str
    value: object
    rule: str
    fix: str = ""

    def __str__(self) -> str:
        place = _cut(self.field, MAX_QUOTED)
        if self.value is not None:
            place += f"={_cut(_shown(self.value), MAX_QUOTED)}"
        text = f"{place}: {_cut(self.rule, MAX_TEXT)}"
        return printable(f"{text}; {_cut(self.fix, MAX_TEXT)}" if self.fix else text)


def _shown(value: object) -> str:
    try:
        return repr(value)
    except ValueError:  # whole numbers of more than 4300 digits
        return f"a number of {int(value).bit_length()} bits" if isinstance(value, int) else type(value).__name__


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def choose_from(value: str, choices: Iterable[str]) -> str:
    """Return the fix of a word that is not among the choices: the closest of them first, where one is close."""
    names = list(choices)
    near = get_close_matches(value.lower(), names, n=1, cutoff=0.6)
    return f"did you mean {near[0]}? The choices are {', '.join(names)}" if near else f"use one of {', '.join(names)}"


def printable(text: str) -> str:
    """`text` with lone surrogates escaped: JSON can contain them, but no stream can encode them."""
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")


def visible(text: str) -> str:
    """Return `text` with characters that a terminal or a page would obey as their escapes; line ends and tabs stay.

    These are control characters, and those that turn the direction of writing (U+202E makes "txt.exe" of "exe.txt").
    """
    return _CONTROLS.sub(_escape, text)


def visible_toml(text: str) -> str:
    """Return a TOML text with the same characters of its strings as escapes of TOML: it means the same."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def html_text(text: str) -> str:
    """Return `text` as HTML that shows it as it is: neither markup nor control characters."""
    import html

    return html.escape(visible(text))


def in_page(value: object) -> object:
    """Return what a template shows for a value: text with its control characters escaped, anything else as it is."""
    is_unsafe = isinstance(value, str) and _CONTROLS.search(value)
    return value.__class__(visible(str(value))) if is_unsafe else value  # type: ignore[call-arg]


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class DiskmodelError(Exception):
    """Base of all exceptions that this project raises on purpose."""

    code = "error"
    exit_status = 1


class InputError(DiskmodelError):
    """Bad input: `faults` lists every fault found, `source` names the file or object that contains them."""

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


class StarvationError(DescriptionError):
    """A rebuild beside which no request completes (rule R6)."""


class FormatError(InputError):
    """A file of the wrong kind, or with a malformed line."""

    code = "format"


class OutputError(InputError):
    """A result that may not or cannot be written where it should go; what was there before is as it was."""

    code = "output"


class CoverageError(InputError):
    """The requested engine does not support the scenario; diskmodel never falls back silently."""

    code = "coverage"


class MissingPackageError(CoverageError, ImportError):
    """An optional package is not installed; the message names the extra that installs it."""


class MeasurementError(InputError):
    """A measurement that is not allowed or not possible here (safety, permission, no direct I/O)."""

    code = "measurement"


class MountError(InputError):
    """A virtual drive that cannot be mounted here (directory, permission, no FUSE) or cannot be served."""

    code = "mount"


class ConservationError(DiskmodelError):
    """A run broke a conservation law (time parts, utilization law, a lost request): a bug in diskmodel."""

    code = "conservation"


class StaleKernelError(InputError):
    """The native kernel is not there, or was compiled from other sources than the Python code beside it."""

    code = "stale"

    def __init__(self, what: str) -> None:
        self.what = what
        fix = (
            "build it anew: `make setup` in a checkout, `pip install --force-reinstall .` otherwise; where it is "
            "installed, do not start Python in the folder of the sources, which have none"
        )
        super().__init__(Fault("the native kernel", None, what, fix))

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.what,)


class KernelError(DiskmodelError):
    """The native kernel crashed in the middle of a run: a bug in diskmodel, whatever the input was.

    Parameters
    ----------
    what : str
        The kernel's message and its place in the code.
    """

    code = "kernel"

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)

    def __str__(self) -> str:
        return printable(
            f"the native kernel crashed: {_cut(self.what, MAX_TEXT)}; this is a bug in diskmodel, not in your input: "
            'please report it with the version and your input files; engine = "simpy" avoids the kernel'
        )
