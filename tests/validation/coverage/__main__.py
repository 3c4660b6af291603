"""Print how often intervals contain what was measured: `python -m tests.validation.coverage [--renew]`.

With `--renew` every prediction and its interval are simulated anew, which takes half an hour; with `--renew intervals`
only the intervals, and with `--renew missing` only those that the table lacks. `make intervals` also writes the page
and `diskmodel/uncertainty/spread.toml`.
"""

from __future__ import annotations

import argparse

from tests.validation.coverage import page
from tests.validation.coverage.renew import renew


def main() -> None:
    """Renew what is asked for, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.coverage")
    parser.add_argument("--renew", nargs="?", const="all", choices=("all", "intervals", "missing"), help="simulate")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="renew the interval of every Nth figure")
    parser.add_argument("--write", action="store_true", help="write the page and the spread of each class")
    options = parser.parse_args()
    if options.renew is not None:
        renew(with_nominal=options.renew == "all", only_missing=options.renew == "missing", every=options.every)
    if options.write:
        page.write()
    print(page.tables())


if __name__ == "__main__":
    main()
