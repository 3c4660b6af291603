"""Plant every cause and keep what is made of it: `python -m tests.validation.explanation [--renew] [--only WORD]`.

The table is tests/data/explanations.csv; with `--renew` it is simulated anew, which takes half an hour. `--write`
writes the page.
"""

from __future__ import annotations

import argparse
import sys

from tests.validation.explanation import table


def main() -> None:
    """Renew what is asked for, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.explanation")
    parser.add_argument("--renew", action="store_true", help="simulate everything anew")
    parser.add_argument("--only", default="", metavar="WORD", help="only kinds, causes or subjects with this word")
    parser.add_argument("--write", action="store_true", help="write the page")
    options = parser.parse_args()
    if options.renew:
        table.renew(options.only, lambda line: print(line, file=sys.stderr, flush=True))
    if options.write:
        table.write_page()
    print(table.summary())


if __name__ == "__main__":
    main()
