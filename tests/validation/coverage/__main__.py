"""Print how often intervals contain what was measured: `python -m tests.validation.coverage [--renew]`.

With `--renew` every prediction is simulated anew, which takes some minutes, or those whose name begins with a word.
`make intervals` also writes the page and `diskmodel/uncertainty/spread.toml`.
"""

from __future__ import annotations

import argparse

from tests.validation.coverage import page, predicted
from tests.validation.coverage.evidence import cases


def main() -> None:
    """Renew what is asked for, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.coverage")
    parser.add_argument("--renew", nargs="?", const="", metavar="WORD", help="simulate predictions anew")
    parser.add_argument("--write", action="store_true", help="write the page and the spread of each class")
    options = parser.parse_args()
    if options.renew is not None:
        predicted.renew(cases(), options.renew)
    if options.write:
        page.write()
    print(page.tables())


if __name__ == "__main__":
    main()
