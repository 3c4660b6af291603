"""Simulating every case anew, with the spreads of all drives and arrays but its own."""

from __future__ import annotations

import tomllib
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from unittest import mock

from diskmodel.uncertainty import spread as drawn
from tests.validation.coverage import predicted, printed, spread_table
from tests.validation.coverage.evidence import Case, cases
from tests.validation.coverage.predicted import Predicted

#: Processes that simulate at the same time.
WORKERS = 2
#: Cases after which the table is written, so that little is lost when somebody stops it.
_OFTEN = 20


def renew(*, with_nominal: bool = True, only_missing: bool = False, every: int = 1) -> None:
    """Simulate all cases, and write the table.

    Parameters
    ----------
    with_nominal : bool
        Whether to simulate the arrays as they are described, too: what units differ by follows from these. Without,
        the figures in the table count.
    only_missing : bool
        Whether to leave intervals as they are that the table has.
    every : int
        Above 1: only every such case has a new interval.
    """
    found = cases()
    with ProcessPoolExecutor(WORKERS) as pool:
        if with_nominal:
            predicted.write(pool.map(_nominal, range(len(found)), chunksize=4))
        known = predicted.read()
        tables = printed.tables_left_out()
        everything = spread_table.TABLE.read_text(encoding="utf-8")
        asked = [i for i, case in enumerate(found) if not (only_missing and known[case.name].is_predictive)]
        jobs = [pool.submit(_predict, i, tables.get(found[i].unit, everything)) for i in asked[::every]]
        for number, job in enumerate(as_completed(jobs), start=1):
            done = job.result()
            known[done.name] = done
            print(f"{number:4d} of {len(jobs)}: {done.name}", flush=True)
            if number % _OFTEN == 0:
                predicted.write(known[case.name] for case in found)
    predicted.write(known[case.name] for case in found)


@cache
def _cases() -> list[Case]:
    return cases()


def _nominal(number: int) -> Predicted:
    return predicted.nominal(_cases()[number])


def _predict(number: int, table: str) -> Predicted:
    _, assumed = drawn.TABLES
    texts = (table, assumed.read_text(encoding="utf-8"))
    together = drawn.joined(tomllib.loads(text) for text in texts)
    with mock.patch.object(drawn, "_table", return_value=together):
        return predicted.predict(_cases()[number])
