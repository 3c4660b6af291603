"""Draw the pictures of the course when the site is built, so that every lesson shows what the model computes.

Also write the pages with the moving head, as `diskmodel animate` does.
"""

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from diskmodel import Array, Workload
from diskmodel.lab.animation import commits_page, schedulers_page, small_write_page

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"


def drawings():
    """Load the functions that draw the pictures."""
    found = {}
    for name in ("drawings", "sketches"):
        spec = importlib.util.spec_from_file_location(name, HERE / "course" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= vars(module)
    return SimpleNamespace(**found)


def names() -> list[str]:
    """Return the names of the pictures in the lessons."""
    pages = "".join(path.read_text() for path in sorted((HERE / "course").glob("*.md")))
    return sorted(set(re.findall(r"\]\(pictures/(\w+)\.svg\)", pages)))


def moving() -> dict[str, str]:
    """Return pages that play back a run, by name."""
    disk, reads = Array.load(EXAMPLES / "single-disk.toml"), Workload.load(EXAMPLES / "random-read.toml")
    return {
        "commits": commits_page(disk),
        "elevators": schedulers_page(disk, reads, n_requests=100),
        "small-write": small_write_page(Array.load(EXAMPLES / "raid5.toml")),
    }


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add each picture of a lesson."""
    module = drawings()
    for name in names():
        files.append(File.generated(config, f"course/pictures/{name}.svg", content=getattr(module, name)()))
    for name, page in moving().items():
        files.append(File.generated(config, f"course/pictures/{name}.html", content=page))
    return files
