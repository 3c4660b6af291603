"""A sample of the mutants of the modules named in pyproject.toml, run against the tests that are named there.

    python -m tests.trust.mutation [--per-module 25] [--seed 1] [--jobs 2] [--module layout.md.mirror ...]

Mutants are made by mutmut. Those that are run are drawn by the seed, the same ones for the same sources. The end lists
the survivors; `mutmut show NAME` prints one. `mutmut run` runs all of them, in half an hour or so, and
`python -m tests.trust.mutation.report` prints the scores.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections import Counter, defaultdict

#: A module of one mutant: running it makes all the others.
SMALLEST = "diskmodel.queue.fcfs.*"


def mutmut(*arguments: str) -> str:
    """What mutmut wrote to standard output; its progress is thrown away."""
    done = subprocess.run(
        [sys.executable, "-c", "from mutmut.__main__ import cli; cli()", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"mutmut {' '.join(arguments[:3])} failed:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def statuses() -> dict[str, str]:
    """Every mutant's name and what became of it."""
    lines = (line.strip() for line in mutmut("results", "--all", "True").splitlines())
    return dict(line.rsplit(": ", 1) for line in lines if ": " in line)


def module_of(name: str) -> str:
    """`diskmodel.layout.md.mirror.x_plan__mutmut_3` is of `layout.md.mirror`."""
    return name.removeprefix("diskmodel.").rpartition(".")[0]


def is_noticed(status: str) -> bool:
    """A test failed; or the mutant never ended, which is noticed, too."""
    return status not in ("survived", "no tests", "not checked")


def main() -> None:
    """Make the mutants, run the sample, print the score of each module and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-module", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--module", action="append", default=[])
    options = parser.parse_args()
    mutmut("run", "--max-children", options.jobs, SMALLEST)
    of_module: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(statuses()):
        of_module[module_of(name)].append(name)
    sample = [
        name
        for module, names in of_module.items()
        if not options.module or module in options.module
        for name in random.Random(f"{options.seed} {module}").sample(names, min(options.per_module, len(names)))
    ]
    mutmut("run", "--max-children", options.jobs, *sample)
    became = statuses()
    print(f"{'module':24}{'mutants':>9}{'run':>6}{'killed':>8}{'score':>8}")
    counts = {module: Counter(became[name] for name in sample if module_of(name) == module) for module in of_module}
    counts["all"] = sum(counts.values(), Counter())
    of_module["all"] = list(became)
    for module, count in counts.items():
        if n := count.total():
            killed = sum(count[status] for status in count if is_noticed(status))
            print(f"{module:24}{len(of_module[module]):9}{n:6}{killed:8}{killed / n:8.1%}")
    print(*(f"{became[name]}: {name}" for name in sample if not is_noticed(became[name])), sep="\n")


if __name__ == "__main__":
    main()
