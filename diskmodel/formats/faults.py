"""How the readers say what is wrong: which file, which line, which column, what stood there."""

from __future__ import annotations

from pathlib import Path

from diskmodel.errors import Fault, FormatError, InputError
from diskmodel.input import how_to_find

#: Longest piece of a malformed line that is quoted.
QUOTED = 200


class LineError(FormatError):
    """A malformed line of a text file, or a malformed record of a binary one.

    Attributes
    ----------
    path : str
    line : int
        From 1; for binary files the number of the record.
    column : int
        From 1; 0 when the line as a whole is wrong.
    text : str
        The line, shortened to 200 characters.
    """

    def __init__(self, path: str, line: int, column: int, name: str, text: str, rule: str, fix: str = "") -> None:
        self.path, self.line, self.column, self.text = path, line, column, shorten(text)
        place = f"line {line}" + (f", column {column}" if column else "") + (f" ({name})" if name else "")
        super().__init__(Fault(place, self.text, rule, fix), path)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self.faults, self.path, self.line, self.column, self.text)


def _rebuilt(faults: tuple[Fault, ...], path: str, line: int, column: int, text: str) -> LineError:
    error = LineError.__new__(LineError)
    FormatError.__init__(error, faults, path)
    error.path, error.line, error.column, error.text = path, line, column, text
    return error


def shorten(text: str) -> str:
    """The text without line end, at most 200 characters long."""
    text = text.rstrip("\r\n")
    return text if len(text) <= QUOTED else text[:QUOTED] + "…"


def file_error(path: str | Path, rule: str, fix: str = "", value: object = None) -> FormatError:
    """An error about a file as a whole."""
    return FormatError(Fault("file", value, rule, fix), str(path))


def unreadable(path: str | Path, error: OSError | EOFError | Exception) -> FormatError:
    """The error for a file that cannot be opened, read or decompressed."""
    if isinstance(error, InputError):
        return FormatError(error.faults)
    if isinstance(error, OSError) and error.strerror:
        fix = how_to_find(path) if isinstance(error, FileNotFoundError) else "check the path and the permissions"
        return file_error(path, f"cannot be read: {error.strerror.lower()}", fix)
    return file_error(path, f"cannot be decompressed: {error}", "the file is damaged or cut short; get it again")
