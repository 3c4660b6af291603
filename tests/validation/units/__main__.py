"""Print the units by class, renew their predictions, write the page: `python -m tests.validation.units --help`."""

from __future__ import annotations

import argparse

from tests.validation.units import page, predicted


def main() -> None:
    """Renew what is asked for, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.units")
    parser.add_argument("--renew", nargs="?", const="missing", choices=("missing", "all"), help="simulate")
    parser.add_argument("--only", nargs="+", default=(), metavar="UNIT", help="renew and list these units")
    parser.add_argument("--figures", action="store_true", help="list every figure and its prediction")
    parser.add_argument("--write", action="store_true", help="write the page")
    options = parser.parse_args()
    if options.renew is not None:
        predicted.renew(options.only, only_missing=options.renew == "missing")
    if options.write:
        page.write()
    print(page.figures(options.only) if options.figures else page.tables())


if __name__ == "__main__":
    main()
