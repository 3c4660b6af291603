"""Audit of the planner: random questions, and long runs that check every answer.

    python -m tests.audit [--questions 300] [--seed 1 2 …] [--page]
    python -m tests.audit --seed 1 --number 17      one question, with every figure

Results are kept in a file of each seed, so that an audit that was stopped goes on where it was. Delete them after a
change to the planner or the engines. The page sums up all seeds that are given.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from tests.audit.page import PAGE, Answered, page_of
from tests.audit.questions import draw
from tests.audit.verify import N_MISSED, N_OVERLOAD, N_REQUESTS, Checked, check


def main() -> int:
    """Check the questions one after the other; 1 when an answer was unsafe."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--number", type=int)
    parser.add_argument("--requests", type=int, default=N_REQUESTS, help="of a verification run")
    parser.add_argument("--minutes", type=float, help="begin no further question after so long")
    parser.add_argument("--results", type=Path, default=Path("out"), help="folder of results, audit-SEED.jsonl")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    if options.number is not None:
        question = draw(options.seed[0], options.number)
        print(json.dumps(question.plan, indent=2))
        found = check(question.plan, n_requests=options.requests)
        for item in found:
            print(f"{item.disks} x {item.drive}, {item.level}: {item.state}, {item.verdict}")
            print(*(f"  {line}" for line in item.runs), sep="\n")
        return int(any(item.is_unsafe for item in found))
    options.results.mkdir(parents=True, exist_ok=True)
    until = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    answers = [
        Answered(seed, number, draw(seed, number).kind, found)
        for seed in options.seed
        for number, found in _answered(seed, options, until)
    ]
    text = page_of(answers, requests=options.requests, overload=N_OVERLOAD, missed=N_MISSED)
    if options.page:
        PAGE.write_text(text, encoding="utf-8")
    print(next(line for line in text.splitlines() if line.startswith("`make audit QUESTIONS=")))
    return int(any(item.is_unsafe for answer in answers for item in answer.found))


def _answered(seed: int, options: argparse.Namespace, until: float | None) -> Iterator[tuple[int, list[Checked]]]:
    """Yield number and candidates of each question of a seed, known or checked now, until time is up."""
    place = options.results / f"audit-{seed}.jsonl"
    known = _read(place)
    for number in range(options.questions):
        if number not in known:
            if until is not None and time.monotonic() > until:
                break
            known[number] = check(draw(seed, number).plan, n_requests=options.requests)
            with place.open("a", encoding="utf-8") as file:
                line = {"number": number, "found": [asdict(item) for item in known[number]]}
                file.write(json.dumps(line) + "\n")
        for item in known[number]:
            if item.is_unsafe or number % 10 == 0:
                what = f"{item.disks} x {item.drive}, {item.level}: {item.state}, {item.verdict}"
                print(f"{seed}/{number}: {what}", flush=True)
        yield number, known[number]


def _read(place: Path) -> dict[int, list[Checked]]:
    """Return the results that were kept, by the number of the question."""
    if not place.is_file():
        return {}
    lines = [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]
    return {
        line["number"]: [Checked(**{**item, "runs": tuple(item["runs"])}) for item in line["found"]] for line in lines
    }


if __name__ == "__main__":
    sys.exit(main())
