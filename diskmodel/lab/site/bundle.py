"""Join the modules of a page into one classic script: browsers load no modules from the file system."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./(\w+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def bundle(entry: Path, generated: Mapping[str, str] | None = None) -> str:
    """Return a script whose value is an object of the exports of `entry` and of all modules that it imports, by file.

    Parameters
    ----------
    entry : Path
        A module that imports named exports of its neighbors, without await at its top level.
    generated : mapping of str to str, optional
        Texts of modules that are no files, by name.

    Raises
    ------
    ValueError
        When modules import each other in a circle, or a statement has another form than those in use here.
    """
    made: dict[str, str] = {}
    _add(entry, generated or {}, made, ())
    body = "\n".join(f'modules["{name}"] = {text}' for name, text in made.items())
    return f'(() => {{\n"use strict";\nconst modules = {{}};\n{body}\nreturn modules;\n}})()'


def _add(path: Path, generated: Mapping[str, str], made: dict[str, str], within: tuple[str, ...]) -> None:
    if path.name in within:
        raise ValueError(f"modules import each other in a circle: {' → '.join((*within, path.name))}")
    if path.name in made:
        return
    source = generated[path.name] if path.name in generated else path.read_text()
    for _, name in _IMPORT.findall(source):
        _add(path.with_name(name), generated, made, (*within, path.name))
    names = [name for _, name in _EXPORT.findall(source)]
    text = _IMPORT.sub(lambda found: f'const {{ {found[1]} }} = modules["{found[2]}"];\n', source)
    text = _EXPORT.sub(r"\1 \2", text)
    if left := _LEFT.search(text):
        raise ValueError(f"{path.name}: {left[0]}: write `import {{ name }} from` or `export function`, class, const")
    made[path.name] = f"(() => {{\n{text}return {{ {', '.join(names)} }};\n}})();"
