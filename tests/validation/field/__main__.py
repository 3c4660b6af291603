"""Print all field measurements against the product, and write the validation page."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from tests.validation.field.cases import CASES, RUNS
from tests.validation.field.choices import choice_outcomes
from tests.validation.field.formulas import formula_outcomes
from tests.validation.field.outcome import Outcome
from tests.validation.field.page import PAGE, verdict_of, write_page
from tests.validation.field.scenarios import outcomes


def measured() -> list[Outcome]:
    """Every figure, in the order of the measurements."""
    found = list(formula_outcomes())
    for run in RUNS:
        print(f"{run['case']}: {run['array']} {run['workload']}", file=sys.stderr)
        found.extend(outcomes(run))
    order = list(CASES)
    return sorted(found, key=lambda outcome: order.index(outcome.case))


def main() -> int:
    """Exit status 0 when all is within its tolerance, 3 when something is not."""
    found = measured()
    table = Table(title="Field measurements")
    for name in ("case", "row", "quantity", "author", "ours", "error", "tolerance", "", "kind"):
        table.add_column(name, overflow="fold")
    for o in found:
        table.add_row(
            o.case,
            o.row,
            o.quantity,
            o.author,
            o.our_figure,
            f"{o.error:+.1%}",
            f"{o.tolerance:.0%}",
            verdict_of(o),
            o.kind,
        )
    Console(width=None if sys.stdout.isatty() else 180).print(table)
    write_page(found, list(choice_outcomes()))
    n_out = sum(not o.is_reached for o in found)
    print(f"{len(found)} figures, {n_out} out of tolerance")
    print(f"written: {PAGE}")
    return 3 if n_out else 0


if __name__ == "__main__":
    sys.exit(main())
