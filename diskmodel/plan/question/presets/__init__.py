"""Ready workloads for common uses, each with its source and with what it assumes; a TOML file each, beside this one."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any, NamedTuple

from diskmodel.errors import DescriptionError, Fault, choose_from


class Preset(NamedTuple):
    """A use of storage as the start of a question.

    Attributes
    ----------
    name : str
        As `--from preset:NAME` takes it.
    title : str
        In a few words, for lists.
    sources : tuple of str
        Published characterizations that the figures come from.
    assumptions : tuple of str
        What the sources do not give, and what was assumed instead.
    fields : dict
        Tables of a plan: the workload, and the limits of the objective. The load and the data to store are the user's.
    """

    name: str
    title: str
    sources: tuple[str, ...]
    assumptions: tuple[str, ...]
    fields: dict[str, Any]


def preset_names() -> list[str]:
    """Return the names of all presets, in alphabetical order."""
    return sorted(file.name.removesuffix(".toml") for file in files(__name__).iterdir() if file.name.endswith(".toml"))


def preset(name: str) -> Preset:
    """Return a preset by its name.

    Raises
    ------
    DescriptionError
        When there is no preset of this name.
    """
    names = preset_names()
    if name not in names:
        raise DescriptionError(Fault("preset", name, "is not a known preset", choose_from(name, names)))
    data = tomllib.loads((files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))
    about = data.pop("preset")
    return Preset(name, about["title"], tuple(about["sources"]), tuple(about["assumptions"]), data)
