"""Plant every cause and keep what is made of it: `python -m tests.validation.explanation [--renew] [--only WORD]`.

The table is tests/data/explanations.csv; with `--renew` it is simulated anew, which takes half an hour. `--write`
writes the page.
"""

from __future__ import annotations

from tests.validation.explanation import table
from tests.validation.explanation.command import run

if __name__ == "__main__":
    run("tests.validation.explanation", table.renew, table.write_page, table.summary)
