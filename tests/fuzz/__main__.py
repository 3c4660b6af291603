"""The long tier: inputs by their number, a million for each check.

    python -m tests.fuzz [--inputs 1e6] [--only NAME ...] [--first NUMBER] [--jobs 2]
    python -m tests.fuzz --only NAME --number NUMBER     one input again, here, with its traceback

A check runs in processes that are watched from outside: an input that takes longer than it may, or ends its process
(a panic that aborts, a signal, too much memory), is reported by its number like a failing one, and the run continues.
Ended by Ctrl-C it says with which `--first` it goes on.
"""

from __future__ import annotations

import argparse
import sys

from tests.fuzz import checks_descriptions, checks_engines, checks_formats, checks_kernel, checks_services
from tests.fuzz.check import CHECKS
from tests.fuzz.watch import Watched, watch

#: Their import enters the checks.
DEFINED_IN = (checks_formats, checks_descriptions, checks_services, checks_engines, checks_kernel)


def main() -> int:
    """Run the checks one after the other; 1 when something was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=float, default=1e6, help="numbers go from --first up to this one")
    parser.add_argument("--only", action="append", choices=list(CHECKS), metavar="NAME")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--number", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="names of the checks")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    chosen = [CHECKS[name] for name in options.only or CHECKS]
    if options.list:
        print(*(check.name for check in chosen), sep="\n")
        return 0
    if options.number is not None:
        for check in chosen:
            print(f"{check.name} {options.number}: {'accepted' if check.run_number(options.number) else 'rejected'}")
        return 0
    n_found = 0
    print(f"{'check':<20} {'inputs':>9} {'core s':>7} {'accepted':>10} {'slowest':>16} {'grew MiB':>8} {'found':>5}")
    for check in chosen:
        watched = watch(check, range(options.first, int(options.inputs) // check.share), options.jobs)
        print(_row(check.name, watched), flush=True)
        n_found += len(watched.findings)
        for finding in watched.findings:
            print(f"--- {check.name} --number {finding.number}\n{finding.report}", flush=True)
        if watched.stopped_at is not None:
            print(f"stopped; go on with --only {check.name} --first {watched.stopped_at}", flush=True)
            return 130
    return int(n_found > 0)


def _row(name: str, watched: Watched) -> str:
    share = watched.n_understood / watched.n if watched.n else 0.0
    slowest = f"{watched.slowest_s * 1e3:.0f} ms #{watched.slowest}"
    return (
        f"{name:<20} {watched.n:>9} {watched.core_s:>7.0f} {share:>10.1%} {slowest:>16} "
        f"{watched.grew_bytes / 2**20:>8.0f} {len(watched.findings):>5}"
    )


if __name__ == "__main__":
    sys.exit(main())
