"""Print how often intervals contain what was measured: `python -m tests.validation.coverage [--renew]`.

With `--renew` all intervals are simulated anew, which takes some minutes; with `--renew all` also what the model
predicts of the measurements that are kept elsewhere. `make intervals` also writes the page and
`diskmodel/uncertainty/spread.toml`.
"""

from __future__ import annotations

import argparse

from tests.validation.coverage import page, printed
from tests.validation.coverage.renew import renew


def main() -> None:
    """Renew what is asked for, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.coverage")
    parser.add_argument("--renew", nargs="?", const="intervals", choices=("all", "intervals"), help="simulate")
    parser.add_argument("--write", action="store_true", help="write the page and the spread of each class")
    options = parser.parse_args()
    if options.renew is not None:
        renew(with_nominal=options.renew == "all")
        printed.renew()
    if options.write:
        page.write()
    print(page.tables())


if __name__ == "__main__":
    main()
