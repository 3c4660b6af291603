"""Files of the catalogue of controllers, and the names in them; what they mean is read in the catalogue itself."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import PurePath


@cache
def texts() -> Mapping[str, str]:
    """Return the profiles as they are written, by name, sorted."""
    files = sorted((resources.files("diskmodel.controller") / "catalogue").iterdir(), key=lambda file: file.name)
    return {PurePath(file.name).stem: file.read_text(encoding="utf-8") for file in files if file.name.endswith(".toml")}


@cache
def known_names() -> frozenset[str]:
    """Return the names of all profiles, and those that descriptions made of them have."""
    return frozenset(texts()) | {tomllib.loads(text)["name"] for text in texts().values()}
