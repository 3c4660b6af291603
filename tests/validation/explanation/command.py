"""The command that renews a table of planted causes, prints it, and writes its page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable


def run(
    module: str,
    renew: Callable[[str, Callable[[str], None]], None],
    write_page: Callable[[], object],
    printed: Callable[[], str],
) -> None:
    """Do what the command line of `python -m MODULE` asks for, and print what came of it.

    Parameters
    ----------
    module : str
    renew : callable
        Takes a word that what is renewed has in its name, and what reports a line.
    write_page, printed : callable
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}")
    parser.add_argument("--renew", action="store_true", help="measure and explain everything anew")
    parser.add_argument("--only", default="", metavar="WORD", help="only kinds, causes, arrays with this word")
    parser.add_argument("--write", action="store_true", help="write the page")
    options = parser.parse_args()
    if options.renew:
        renew(options.only, lambda line: print(line, file=sys.stderr, flush=True))
    if options.write:
        write_page()
    print(printed())
