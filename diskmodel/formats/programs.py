"""Programs whose output is read: each package of them lists its own, and finds by the text which one wrote it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from diskmodel.loading import dataclass

Read = TypeVar("Read", covariant=True)


@dataclass(frozen=True)
class Program(Generic[Read]):
    """One form of output.

    Attributes
    ----------
    kind : str
    what : str
        What a file of it is, in words that follow "is"; of a load generator, its name.
    looks_like : callable
        Whether a text is one.
    read : callable
        Takes the text and the file's name.
    """

    kind: str
    what: str
    looks_like: Callable[[str], bool]
    read: Callable[[str, str], Read]


def by_kind(*programs: Program[Read]) -> dict[str, Program[Read]]:
    """Return programs by their kinds; a text that two take is the earlier's."""
    return {program.kind: program for program in programs}


def kind_among(programs: Mapping[str, Program[object]], text: str) -> str | None:
    """Return the kind of the program that wrote a text, or None."""
    return next((kind for kind, program in programs.items() if program.looks_like(text)), None)
