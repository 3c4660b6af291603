"""Plant faults outside of the engine: `python -m tests.validation.explanation.outside [--renew] [--only WORD]`.

The table is tests/data/explanations/outside.csv; with `--renew` all cases are measured and explained anew, which takes
twenty minutes. `--write` writes the page.
"""

from __future__ import annotations

from tests.validation.explanation.command import run
from tests.validation.explanation.outside import table

if __name__ == "__main__":
    run("tests.validation.explanation.outside", table.renew, table.write_page, table.page)
