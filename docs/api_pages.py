"""Write a page for each package of the Python interface when the site is built, in the order of a request's path.

A new package or module appears in the documentation without being listed anywhere. The page of a package shows its
modules. A name that the package re-exports is documented once, where it is defined. The first page lists the names of
`import diskmodel`.
"""

from pathlib import Path

import diskmodel

FOUNDATIONS = ["errors", "units", "description", "records", "array"]
PATH = ["workload", "host", "controller", "layout", "queue", "drive", "engine", "result", "analytic", "plan", "formats"]
INTRODUCTION = """# Python interface

The name of a physical quantity includes its unit; times are integer nanoseconds. Bad input raises an error of
`diskmodel.errors` with field, value, rule and fix.

"""


def packages(root: Path) -> list[str]:
    """Return the public packages and modules, those of a request's path first and in its order."""
    found = [f"diskmodel.{path.parent.name}" for path in (root / "diskmodel").glob("*/__init__.py")]
    found += [f"diskmodel.{path.stem}" for path in (root / "diskmodel").glob("[a-z]*.py")]
    first = [f"diskmodel.{name}" for name in FOUNDATIONS + PATH]
    ordered = [name for name in first if name in found]
    return [*ordered, *sorted(set(found) - set(first)), "calibrate"]


def modules(root: Path, name: str) -> list[str]:
    """Return the public modules and packages inside a package; none for a module."""
    folder = root / Path(*name.split("."))
    inside = [path.stem for path in folder.glob("[a-z]*.py")]
    inside += [path.parent.name for path in folder.glob("[a-z]*/__init__.py")]
    return sorted(inside)


def page_of(root: Path, name: str) -> str:
    """Return the page of one package or module as Markdown."""
    options = "      show_root_heading: false\n      show_root_toc_entry: false\n"
    inside = modules(root, name)
    if inside:
        options += f"      show_submodules: true\n      members: [{', '.join(inside)}]\n"
    return f"# {name}\n\n::: {name}\n    options:\n{options}"


def homes() -> dict[str, str]:
    """Return the full path where each public name of `diskmodel` is defined."""
    found = {}
    for name in sorted(set(diskmodel.__all__) - {"__version__"}, key=str.lower):
        offered = getattr(diskmodel, name)
        # `Drive` is a union of two classes, which has no module of its own
        home = offered.__module__ if offered.__module__.startswith("diskmodel.") else "diskmodel.drive.description"
        found[name] = f"{home}.{name}"
    return found


def index(names: list[str]) -> str:
    """Return the first page: the public names of `diskmodel`, and the packages."""
    offered = "".join(f"| [`diskmodel.{name}`][{home}] | `{home}` |\n" for name, home in homes().items())
    listing = "".join(f"- [{name}]({name}.md)\n" for name in names)
    return (
        f"{INTRODUCTION}## Names in `diskmodel`\n\n| name | defined as |\n|---|---|\n{offered}\n"
        f"## Packages, in the order of a request's path\n\n{listing}"
    )


def made(root: Path) -> dict[str, str]:
    """Return a page for each package, and an index of them, by their places."""
    names = packages(root)
    pages = {f"{name}.md": page_of(root, name) for name in names}
    navigation = "nav:\n  - index.md\n" + "".join(f"  - {page}\n" for page in pages)
    found = {"index.md": index(names), ".nav.yml": navigation, **pages}
    return {f"reference/api/{name}": content for name, content in found.items()}
