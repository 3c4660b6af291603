"""The bundled drives, one TOML file each, loaded on first use."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from importlib import resources

from diskmodel.drive.catalogue.kinds import KINDS
from diskmodel.drive.parse import Drive, parse_drive
from diskmodel.errors import DescriptionError, Fault
from diskmodel.naming import close_to, meant, several, signpost

_TITLE = re.compile(r'^name = "(.*)"$', re.MULTILINE)


class Catalogue(Mapping[str, Drive]):
    """Drives by name, sorted; a drive is parsed on first use and cached.

    What is looked up may also be a part of a name that only one drive has ("exos-x16"), or a model number as systems
    report it ("ST16000NM001G-2KK103").
    """

    def __init__(self) -> None:
        files = (file.name for file in resources.files(__name__).iterdir())
        self._names = sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))
        self._drives: dict[str, Drive] = {}
        self._meant: dict[str, str | Fault] = {}

    def __getitem__(self, name: str) -> Drive:
        """Return the drive of that name.

        Raises
        ------
        DescriptionError
            When no drive has that name, or several do; the message lists these, or close names.
        """
        name = self.name_of(name)
        if name not in self._drives:
            self._drives[name] = self._read(name)
        return self._drives[name]

    def name_of(self, text: str) -> str:
        """Return the name of the drive that a text means.

        Raises
        ------
        DescriptionError
            As a look-up does.
        """
        if text in self._names:
            return text
        found = self._meant.get(text)
        if found is None:
            found = self._name_or_fault(text)
            # the last one is kept: a list may name the same unknown drive thousands of times
            self._meant = {text: found}
        if isinstance(found, Fault):
            raise DescriptionError(found)
        return found

    def _name_or_fault(self, text: str) -> str | Fault:
        """Return the name of the drive that a text means, or why it means none."""
        if post := signpost(text):
            return Fault("drive", text, post.rule, post.fix)
        lowered = text.lower()
        if lowered in KINDS:
            fix = f"it is a kind of drives: choose one from `diskmodel drives --kind {lowered}`"
            return Fault("drive", text, "is neither a file nor a drive in the catalogue", fix)
        found = meant(text, self.titles)
        if len(found) == 1:
            return found[0]
        if found:
            return Fault("drive", text, "fits several drives in the catalogue", several(found))
        close = close_to(text, self.titles)
        fix = f"did you mean {', '.join(close)}?" if close else "`diskmodel drives` lists them all"
        return Fault("drive", text, "is neither a file nor a drive in the catalogue", fix)

    @cached_property
    def titles(self) -> dict[str, str]:
        """Titles with model numbers by name; no drive is parsed for them."""
        numbers = tomllib.loads(resources.files("diskmodel.naming").joinpath("model_numbers.toml").read_text("utf-8"))
        found = {}
        for name in self._names:
            title = _TITLE.search(self._text(name))
            found[name] = " ".join([title[1] if title else name, *numbers.get(name, ())])
        return found

    def _text(self, name: str) -> str:
        return resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def _read(self, name: str) -> Drive:
        return parse_drive(tomllib.loads(self._text(name)), name)


@cache
def catalogue() -> Catalogue:
    """Return all bundled drives by name, loaded lazily."""
    return Catalogue()
