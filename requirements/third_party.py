"""Write the licenses of the Rust packages that are linked into the wheel: third-party.md, which the wheel contains."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rust import Crate, linked

PAGE = Path(__file__).with_name("third-party.md")

_HEAD = """# Licenses of what is linked into diskmodel

The kernel (`diskmodel/engine/_kernel.abi3.so`) and the micro-benchmark (`diskmodel-bench`) contain the Rust standard
library (MIT or Apache-2.0, https://www.rust-lang.org/policies/licenses) and the packages below. Of a choice, the first
license here is taken whose text the package contains. `make lock` writes this page.
"""

#: Files with a license, the first that a package has is taken.
_FILES = ("LICENSE-MIT", "LICENSE", "LICENSE.md", "LICENSE.txt", "COPYING", "LICENSE-APACHE")


def text_of(crate: Crate) -> str:
    """Return the text of a package's license.

    Raises
    ------
    FileNotFoundError
        When its sources contain none.
    """
    for name in _FILES:
        path = crate.folder / name
        if path.is_file():
            return path.read_text(encoding="utf-8").strip()
    raise FileNotFoundError(f"{crate.name} {crate.version} contains no license: add the name of its file to _FILES")


def page(crates: list[Crate]) -> str:
    """Return the page: packages with the same text stand together."""
    by_text: dict[str, list[Crate]] = {}
    for crate in crates:
        by_text.setdefault(text_of(crate), []).append(crate)
    parts = [_HEAD]
    for text, own in by_text.items():
        names = "\n".join(f"- {crate.name} {crate.version} ({crate.licence})" for crate in own)
        parts.append(f"{names}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def main() -> int:
    """Write the page; 1 when cargo cannot list the packages."""
    try:
        crates = linked()
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        return 1
    PAGE.write_text(page(crates), encoding="utf-8")
    print(f"{PAGE.name}: {len(crates)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
