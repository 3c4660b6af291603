"""Score predictors on public measurements: `python -m tests.validation.yardstick [ANSWERS.csv]`.

With `--questions FILE` the questions are written for another program; with `--renew` diskmodel answers them anew, and
with `--write` the page is written.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from diskmodel.errors import InputError
from tests.validation.yardstick import page, predictors
from tests.validation.yardstick.answers import read
from tests.validation.yardstick.questions import document


def main() -> int:
    """Do what is asked for, and print the scores."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.yardstick")
    parser.add_argument("answers", nargs="?", type=Path, metavar="ANSWERS.csv", help="answers of another predictor")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="write the questions as JSON, and end")
    parser.add_argument("--renew", action="store_true", help="let diskmodel answer anew (a quarter of an hour)")
    parser.add_argument("--write", action="store_true", help="write the page")
    options = parser.parse_args()
    if options.questions is not None:
        options.questions.write_text(json.dumps(document(), indent=1), encoding="utf-8")
        return 0
    if options.renew:
        predictors.renew()
    try:
        more = {} if options.answers is None else {options.answers.stem: read(options.answers)}
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    if options.write:
        page.write()
    print(page.tables(more))
    return 0


if __name__ == "__main__":
    sys.exit(main())
