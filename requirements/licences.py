"""Check that every package installed or linked with the project has a permissive licence.

Python: the packages of runtime.txt as they are installed, their licence expression or classifiers. Rust: Cargo.lock.
An expression with OR is fine when one of its sides is.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from rust import crates

PERMISSIVE = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "HPND",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "PSF-2.0",
    "Python-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    # classifiers and names that older packages use
    "Apache Software License",
    "BSD License",
    "MIT License",
    "Python Software Foundation License",
    "BSD",
    "ISC License (ISCL)",
    "Apache 2.0",
    "The Unlicense (Unlicense)",
    "matplotlib",
}


def is_permissive(expression: str) -> bool:
    """Whether one side of every OR, and every part of an AND, is a permissive licence."""
    expression = expression.strip()
    while expression.startswith("(") and expression.endswith(")") and _closes_last(expression):
        expression = expression[1:-1].strip()
    for word, combine in (("OR", any), ("AND", all)):
        parts = _split(expression, word)
        if len(parts) > 1:
            return combine(is_permissive(part) for part in parts)
    return expression in PERMISSIVE


def _closes_last(text: str) -> bool:
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return place == len(text) - 1
    return False


def _split(text: str, word: str) -> list[str]:
    parts, depth = [""], 0
    for piece in re.split(rf"(\(|\)|\s{word}\s)", text):
        depth += (piece == "(") - (piece == ")")
        if piece.strip() == word and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def of_python(name: str) -> str:
    """Return the licence of an installed package."""
    result = metadata(name)
    if expression := result.get("License-Expression"):
        return str(expression)
    classifiers = [line.rpartition(" :: ")[2] for line in result.get_all("Classifier") or () if "License ::" in line]
    return " AND ".join(line for line in classifiers if line != "OSI Approved") or str(result.get("License") or "")


def main() -> int:
    """Print the number of packages checked, and those without a permissive licence."""
    lock = (Path(__file__).parent / "runtime.txt").read_text()
    bad, n = [], 0
    for name in dict.fromkeys(re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)):
        try:
            licence = of_python(name)
        except PackageNotFoundError:
            continue  # of another platform
        n += 1
        if not is_permissive(licence):
            bad.append(f"{name} (Python): {licence!r}")
    rust = crates()
    bad += [
        f"{crate.name} {crate.version} (Rust): {crate.licence!r}" for crate in rust if not is_permissive(crate.licence)
    ]
    print(f"{n} Python packages and {len(rust)} Rust packages checked, {len(bad)} without a permissive licence")
    print(*bad, sep="\n")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
