"""Plant faults outside of the engine: `python -m tests.validation.explanation.outside [--renew] [--only WORD]`.

The table is tests/data/explanations/outside.csv; with `--renew` all cases are measured and explained anew, which takes
twenty minutes. `--write` writes the page.
"""

from __future__ import annotations

import argparse
import sys

from tests.validation.explanation.outside import table


def main() -> None:
    """Renew what is asked for, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.explanation.outside")
    parser.add_argument("--renew", action="store_true", help="measure and explain everything anew")
    parser.add_argument("--only", default="", metavar="WORD", help="only faults or arrays with this word")
    parser.add_argument("--write", action="store_true", help="write the page")
    options = parser.parse_args()
    if options.renew:
        table.renew(options.only, lambda line: print(line, file=sys.stderr, flush=True))
    if options.write:
        table.write_page()
    print(table.page())


if __name__ == "__main__":
    main()
