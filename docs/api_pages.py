"""Give each package of the Python interface a page when the site is built, in the order of a request's path.

A new package or module thus appears in the documentation without being listed anywhere.
"""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

FOUNDATIONS = ["errors", "units", "description", "records", "array"]
PATH = ["workload", "host", "controller", "layout", "queue", "drive", "engine", "result", "analytic", "plan", "formats"]
INTRODUCTION = """# Python interface

Physical numbers carry their unit in their names; times are integer nanoseconds. Bad input raises an error of
`diskmodel.errors` with field, value, rule and fix.

"""


def packages(root: Path) -> list[str]:
    """Return the public packages and modules of the project, those of the path first and in its order."""
    found = [f"diskmodel.{path.parent.name}" for path in (root / "diskmodel").glob("*/__init__.py")]
    found += [f"diskmodel.{path.stem}" for path in (root / "diskmodel").glob("[a-z]*.py")]
    first = [f"diskmodel.{name}" for name in FOUNDATIONS + PATH]
    ordered = [name for name in first if name in found]
    return [*ordered, *sorted(set(found) - set(first)), "calibrate"]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each package, and an index of them."""
    names = packages(Path(config.config_file_path).parent)
    pages = {f"{name}.md": f"# {name}\n\n::: {name}\n    options:\n      show_submodules: true\n" for name in names}
    listing = "".join(f"- [{name}]({name}.md)\n" for name in names)
    navigation = "nav:\n  - index.md\n" + "".join(f"  - {page}\n" for page in pages)
    for name, content in {"index.md": INTRODUCTION + listing, ".nav.yml": navigation, **pages}.items():
        files.append(File.generated(config, f"reference/api/{name}", content=content))
    return files
