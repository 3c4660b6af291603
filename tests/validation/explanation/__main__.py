"""Renew what is known of explanations: `python -m tests.validation.explanation [TABLE …] [--renew] [--write]`.

Tables are "planted" (causes planted in the engine, healthy arrays, public threads; half an hour of a processor),
"outside" (faults of the small simulator; a quarter of an hour), "sound" (sound measurements, and how much slower each
would have to be; minutes) and "mounted" (virtual drives under fio, in real time). Without a name, all but the last are
meant. With `--renew` they are made anew, with `--write` the pages are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from tests.validation.explanation import mounted, page, sound, table
from tests.validation.explanation.outside import table as outside

Say = Callable[[str], None]


def _mounted(only: str, say: Say) -> None:
    for row in mounted.renew(only):
        say(str(row))


RENEW: dict[str, Callable[[str, Say], None]] = {
    "planted": table.renew,
    "outside": outside.renew,
    "sound": sound.renew,
    "mounted": _mounted,
}
WRITE: dict[str, Callable[[], None]] = {"planted": table.write_page, "outside": page.write_page}


def main() -> None:
    """Renew what is asked for, write its pages, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.explanation")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(RENEW)}")
    parser.add_argument("--renew", action="store_true", help="make the tables anew")
    parser.add_argument("--only", default="", metavar="WORD", help="only rows with this word")
    parser.add_argument("--write", action="store_true", help="write the pages")
    options = parser.parse_args()
    if unknown := set(options.tables) - set(RENEW):
        parser.error(f"no table {', '.join(sorted(unknown))}; there are {', '.join(RENEW)}")
    tables = options.tables or [name for name in RENEW if name != "mounted"]
    if options.renew:
        for name in tables:
            RENEW[name](options.only, lambda line: print(line, file=sys.stderr, flush=True))
    if options.write:
        for write in WRITE.values():
            write()
    print(table.summary())
    print(page.summary())


if __name__ == "__main__":
    main()
