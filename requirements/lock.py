"""Write the lock files of this folder from pyproject.toml: exact versions and hashes of the whole dependency tree.

Each file applies to every supported Python and platform, by environment markers.
Run it with `make lock`.
"""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# The later ones are parts of, or additions to, the first and never at odds with it.
LOCKS = {
    "dev.txt": ["--group", "dev"],
    "runtime.txt": ["--constraint", "requirements/dev.txt"],
    "mutation.txt": ["--group", "mutation", "--constraint", "requirements/dev.txt"],
    "zensical.txt": ["--group", "zensical", "--constraint", "requirements/dev.txt"],
    "release.txt": ["--group", "release", "--constraint", "requirements/dev.txt"],
}
OPTIONS = [
    "--universal",
    "--python-version",
    "3.11",
    "--upgrade",
    "--no-annotate",
    "--no-header",
    "--no-emit-index-url",
    # pip then refuses a file that is not the one that was locked
    "--generate-hashes",
]


def lock(name: str, arguments: list[str]) -> None:
    """Resolve one lock file; raises CalledProcessError when no set of versions fits."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "pyproject.toml", *arguments, *OPTIONS]
    answer = subprocess.run(command, cwd=FOLDER.parent, check=True, stdout=subprocess.PIPE, text=True)
    (FOLDER / name).write_text(f"# Made by `make lock` from pyproject.toml; do not edit.\n{answer.stdout}")
    n_packages = answer.stdout.count("==")
    print(f"requirements/{name}: {n_packages} packages")


for name, arguments in LOCKS.items():
    lock(name, arguments)
