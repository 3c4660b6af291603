"""The mutants of the kernel: which places of its sources the copy with mutants has otherwise.

The lists are the TOML files beside this one, one for each folder of the kernel. A `[[mutant]]` has a name, a `file` of
the kernel (of its folder `src`, or of a crate beside it, as `python/src/lib.rs`), a text `old` that is in that file
once, and a text `new` in its place, which asks `planted(NAME)` whether to deviate. A mutant of several places has
several entries. A `[[common]]` entry has no name and no deviation: it is what the copy has otherwise whichever mutant
is switched on. White space does not count, so lines may be indented anew.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[2]
KERNEL = Path("diskmodel") / "engine" / "kernel"
_PLANTED = re.compile(r"\bplanted\((\w+)\)")


@dataclass(frozen=True)
class Place:
    """A place of the kernel and what the copy has there; `name` is empty where no mutant deviates."""

    source: str
    file: str
    old: str
    new: str
    name: str = ""

    def __str__(self) -> str:
        return f"mutants/{self.source}: {self.name or 'a common entry'} in kernel/{self.path}"

    @property
    def path(self) -> str:
        """Return the file in the folder of the kernel."""
        return self.file if "/src/" in self.file else f"src/{self.file}"

    def span(self, text: str) -> tuple[int, int]:
        """Return where `old` begins and ends in the text of the file."""
        found = [one.span() for one in re.finditer(r"\s+".join(map(re.escape, self.old.split())), text)]
        if len(found) != 1:
            raise ValueError(
                f"{self}: `old` is there {len(found)} times instead of once; "
                "copy the lines as they are now, and as many as it takes, into `old`, and with the deviation into `new`"
            )
        return found[0]


@cache
def listed() -> tuple[Place, ...]:
    """Return all places, in order of the files and of their entries."""
    tables = {path.name: tomllib.loads(path.read_text()) for path in sorted(FOLDER.glob("*.toml"))}
    return tuple(
        Place(source, **entry)
        for source, table in tables.items()
        for kind in ("common", "mutant")
        for entry in table.get(kind, ())
    )


def names(places: Iterable[Place]) -> list[str]:
    """Return the names of the mutants, each once, in order."""
    return list(dict.fromkeys(place.name for place in places if place.name))


def planted(text: str) -> set[str]:
    """Return the names of the mutants that a text asks for."""
    return set(_PLANTED.findall(text))


def patched(sources: Path, places: Iterable[Place]) -> Iterator[tuple[str, str]]:
    """Yield the files of the kernel's folder that change, and their new text, in which mutants are numbers.

    The number of a mutant is its place in `names`.
    """
    places = list(places)
    numbers = {name: number for number, name in enumerate(names(places))}
    for file in sorted({place.path for place in places}):
        text = (sources / file).read_text()
        spans = sorted((place.span(text), place) for place in places if place.path == file)
        for ((_, end), one), ((begin, _), other) in pairwise(spans):
            if begin < end:
                raise ValueError(f"{one}: overlaps with {other}; make `old` of both shorter, or one entry of both")
        for (begin, end), place in reversed(spans):
            new = _PLANTED.sub(lambda found: f"crate::mutants::planted({numbers[found[1]]})", place.new.strip())
            text = text[:begin] + new + text[end:]
        yield file, text
