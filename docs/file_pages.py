"""Describe the project's own files when the site is built: every field of every table, from the reading classes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from diskmodel import Array, Flash, Hdd, PlanDescription, Virtual, Workload
from diskmodel.description import Description
from diskmodel.drive import CloudVolume

KINDS: dict[str, tuple[type[Description], ...]] = {
    "Drives": (Hdd, Flash, Virtual, CloudVolume),
    "Arrays": (Array,),
    "Workloads": (Workload,),
    "Plans": (PlanDescription,),
}
INTRODUCTION = """# Descriptions in files

Arrays, drives, workloads and plans are TOML files; `examples/` has some of each. The ending of a field's name is its
unit. A file may omit the ending and give the value a unit instead:

```toml
strip_bytes = 65536
strip = "64 KiB"
```

| ending | units in a file |
|---|---|
| `_bytes` | `B`, `kB`, `KiB`, `MB`, `MiB`, `GB`, `GiB`, `TB`, `TiB` |
| `_ns` | `ns`, `us`, `ms`, `s`, `min`, `h` |
| `_bytes_per_s` | a size `/s` |
| `_per_s` | `500/s` |
| `_ratio` | `85%`; a number is a share of 1 |

An unknown field is rejected, and all faults of a file are reported at once. The [JSON schemas](#json-schemas) have the
same fields, for programs that write such files. If a table also accepts short forms, its description lists them.

"""


def entries(docstring: str) -> dict[str, str]:
    """Return the meaning of each attribute in a numpydoc docstring."""
    found: dict[str, str] = {}
    names: list[str] = []
    _, _, attributes = docstring.partition("Attributes\n----------\n")
    for line in attributes.splitlines():
        heading = re.match(r"(\w[\w, ]*?)(?: : (.*))?$", line)
        if line and not line.startswith(" ") and heading:
            names = [name.strip() for name in heading[1].split(",")]
            found |= {name: "" for name in names}
        elif line.startswith("    "):
            found |= {name: f"{found[name]} {line.strip()}".strip() for name in names}
        elif line:
            break
    return found


def meanings(kind: type[Description]) -> dict[str, str]:
    """Return the meaning of each field of a class, including its bases."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if issubclass(base, Description) and base.__doc__:
            found |= {name: text for name, text in entries(_clean(base.__doc__)).items() if text or name not in found}
    return found


def classes(root: type[Description], seen: dict[str, type[Description]]) -> dict[str, type[Description]]:
    """Return the class and all classes nested in its fields, each once, in order of appearance."""
    if root.__name__ not in seen:
        seen[root.__name__] = root
        for field in root.model_fields.values():
            for inner in _inside(field.annotation):
                classes(inner, seen)
    return seen


def table(kind: type[Description]) -> str:
    """Return the section of one class."""
    schema = kind.model_json_schema()
    meaning = meanings(kind)
    summary = re.split(r"\n[A-Z]\w+\n---", _clean(kind.__doc__ or ""), maxsplit=1)[0].strip()
    rows = ["| field | value | default | meaning |", "|---|---|---|---|"]
    for name, field in kind.model_fields.items():
        value = _kind_of(schema["properties"][name])
        default = "required" if field.is_required() else _default(field.get_default(call_default_factory=True))
        rows.append(f"| `{name}` | {value} | {default} | {meaning.get(name, '').replace('|', '/')} |")
    return f"### {kind.__name__}\n\n{summary}\n\n" + "\n".join(rows) + "\n"


def page() -> str:
    """Return the whole page as Markdown."""
    parts, seen = [INTRODUCTION], {}
    for title, roots in KINDS.items():
        parts.append(f"## {title}\n")
        for root in roots:
            known = set(seen)
            parts += [table(kind) for name, kind in classes(root, seen).items() if name not in known]
    links = "".join(f"- [{name}](schemas/{name})\n" for name in schemas())
    return "\n".join(parts) + f"\n## JSON schemas\n\n{links}"


def schemas() -> dict[str, str]:
    """Return the JSON schema of each kind of file, by file name."""
    roots = [root for several in KINDS.values() for root in several]
    names = {
        Array: "array",
        Hdd: "hard-disk",
        Flash: "flash",
        Virtual: "virtual-disk",
        CloudVolume: "cloud-volume",
        Workload: "workload",
        PlanDescription: "plan",
    }
    return {f"{names[root]}.json": json.dumps(root.model_json_schema(), indent=1) + "\n" for root in roots}


def made(root: Path) -> dict[str, str]:
    """Return the page and the schemas by their places."""
    found = {f"reference/schemas/{name}": text for name, text in schemas().items()}
    return {"reference/descriptions.md": page(), **found}


def _clean(docstring: str) -> str:
    lines = docstring.splitlines()
    return "\n".join([lines[0], *(line.removeprefix("    ") for line in lines[1:])])


def _inside(annotation: Any) -> Iterator[type[Description]]:
    if isinstance(annotation, type) and issubclass(annotation, Description):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _inside(argument)


def _kind_of(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(_kind_of(one) for one in schema[several] if one.get("type") != "null")
    if schema.get("type") == "array":
        return f"list of {_kind_of(schema['items'])}" if "items" in schema else "list"
    words = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false"}
    return words.get(schema.get("type", ""), "table") + _range(schema)


def _range(schema: dict[str, Any]) -> str:
    signs = {"exclusiveMinimum": "> ", "minimum": "≥ ", "exclusiveMaximum": "< ", "maximum": "≤ "}
    return "".join(
        f", {sign}{schema[key]:g}" for key, sign in signs.items() if isinstance(schema.get(key), int | float)
    )


def _default(value: object) -> str:
    if value is None or isinstance(value, Description):
        return "" if value is None else "its own"
    if isinstance(value, tuple | list | dict):
        return "" if not value else "its own"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    text = f"{value:.0f}" if isinstance(value, float) and value >= 1000 else str(value)
    return f"`{text}`" if text else ""
