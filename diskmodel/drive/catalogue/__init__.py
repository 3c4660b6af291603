"""The bundled drives, one TOML file each, loaded on first use."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources

from diskmodel.drive.catalogue.kinds import KINDS
from diskmodel.drive.parse import Drive, parse_drive
from diskmodel.errors import DescriptionError, Fault
from diskmodel.naming.signposts import signpost


class Catalogue(Mapping[str, Drive]):
    """Drives by name, sorted; a drive is parsed on first use and cached."""

    def __init__(self) -> None:
        files = (file.name for file in resources.files(__name__).iterdir())
        self._names = sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))
        self._drives: dict[str, Drive] = {}

    def __getitem__(self, name: str) -> Drive:
        """Return the drive of that name.

        Raises
        ------
        DescriptionError
            When no drive has that name; the message lists close names.
        """
        if name not in self._drives:
            self._drives[name] = self._read(name)
        return self._drives[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def _read(self, name: str) -> Drive:
        if name not in self._names:
            lowered = name.lower()
            if post := signpost(name):
                raise DescriptionError(Fault("drive", name, post.rule, post.fix))
            close = difflib.get_close_matches(lowered, self._names, n=5, cutoff=0.5)
            close += [known for known in self._names if lowered in known and known not in close]
            fix = f"did you mean {', '.join(close[:5])}?" if close else "`diskmodel drives` lists them all"
            if lowered in KINDS:
                fix = f"it is a kind of drives: choose one from `diskmodel drives --kind {lowered}`"
            raise DescriptionError(Fault("drive", name, "is neither a file nor a drive in the catalogue", fix))
        text = resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
        return parse_drive(tomllib.loads(text), name)


@cache
def catalogue() -> Catalogue:
    """Return all bundled drives by name, loaded lazily."""
    return Catalogue()
