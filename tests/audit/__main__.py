"""Audit of the planner: random questions, and long runs that check every answer.

    python -m tests.audit [--questions 300] [--seed 1] [--page]
    python -m tests.audit --seed 1 --number 17      one question, with every figure

Results are kept in a file, so that an audit that was stopped goes on where it was. Delete the file after a change to
the planner or the engines.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from tests.audit.page import PAGE, page_of
from tests.audit.questions import draw
from tests.audit.verify import N_MISSED, N_OVERLOAD, N_REQUESTS, Checked, check


def main() -> int:
    """Check the questions one after the other; 1 when an answer was unsafe."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int)
    parser.add_argument("--requests", type=int, default=N_REQUESTS, help="of a verification run")
    parser.add_argument("--minutes", type=float, help="begin no further question after so long")
    parser.add_argument("--results", type=Path, help="file of results; default: out/audit-SEED.jsonl")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    if options.number is not None:
        question = draw(options.seed, options.number)
        print(json.dumps(question.plan, indent=2))
        found = check(question.plan, n_requests=options.requests)
        for item in found:
            print(f"{item.disks} x {item.drive}, {item.level}: {item.state}, {item.verdict}")
            print(*(f"  {line}" for line in item.runs), sep="\n")
        return int(any(item.is_unsafe for item in found))
    place = options.results or Path("out") / f"audit-{options.seed}.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    known = _read(place)
    began = time.monotonic()
    n_done = 0
    for number in range(options.questions):
        if number not in known:
            if options.minutes is not None and time.monotonic() - began > 60 * options.minutes:
                break
            known[number] = check(draw(options.seed, number).plan, n_requests=options.requests)
            with place.open("a", encoding="utf-8") as file:
                line = {"number": number, "found": [asdict(item) for item in known[number]]}
                file.write(json.dumps(line) + "\n")
        for item in known[number]:
            if item.is_unsafe or number % 10 == 0:
                print(f"{number}: {item.disks} x {item.drive}, {item.level}: {item.state}, {item.verdict}", flush=True)
        n_done = number + 1
    answers = [(draw(options.seed, number).kind, known[number]) for number in range(n_done)]
    text = page_of(answers, seed=options.seed, requests=options.requests, overload=N_OVERLOAD, missed=N_MISSED)
    if options.page:
        PAGE.write_text(text, encoding="utf-8")
    print(next(line for line in text.splitlines() if line.startswith("`make audit QUESTIONS=")))
    return int(any(item.is_unsafe for _, found in answers for item in found))


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
