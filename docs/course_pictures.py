"""Draw the pictures of the course when the site is built: whatever a lesson shows comes from the model."""

import importlib.util
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

HERE = Path(__file__).parent


def drawings():
    """Module that draws them."""
    spec = importlib.util.spec_from_file_location("drawings", HERE / "course" / "drawings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wanted() -> list[str]:
    """Names of the pictures that the lessons show."""
    pages = "".join(path.read_text() for path in sorted((HERE / "course").glob("*.md")))
    return sorted(set(re.findall(r"\]\(pictures/(\w+)\.svg\)", pages)))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add each picture that a lesson shows."""
    module = drawings()
    for name in wanted():
        files.append(File.generated(config, f"course/pictures/{name}.svg", content=getattr(module, name)()))
    return files
