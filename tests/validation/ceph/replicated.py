"""Volumes that Vitastor and DRBD keep on several nodes, against measurements.

`python -m tests.validation.ceph.replicated` writes docs/explanation/validation/replicated.md.
"""

from __future__ import annotations

from tests.validation.ceph import clusters

DATA = clusters.DATA.with_name("replicated.csv")
PAGE = clusters.PAGE.with_name("replicated.md")

INTRODUCTION = """# Vitastor and DRBD

The [stations of a Ceph cluster](../../reference/semantics-clusters.md) with the costs of other programs (rule E15).
Those of Vitastor are what its author printed of processors under reads and writes of one cluster; nothing else of
that cluster and nothing of the other one was used. Those of DRBD are one figure: the rate of one volume at its limit.
The round trip of a network is between two programs, and what these take of it is in their own times.
`tests/data/ceph/replicated.csv` has the sources; `python -m tests.validation.ceph.replicated` writes this page.

"""

REMARKS = """
What is not followed:

- The catalog has the PM9A3 of 7.68 TB, which writes 200,000/s for long; those of 1.92 TB that were measured write
  less. At a depth of 1,536 the drives limit the writes of that cluster, three of each copy with the store that it
  had, so the rows say little of Vitastor.
- RDMA is not modeled: it had three times the reads of TCP there, and twice the writes.
- DRBD's activity log: a write to 4 MiB that are not among the `al-extents` hot ones waits for one more write on each
  node. The default of 1,237 holds 4.8 GiB; random writes over more are slower than the answer (with the log on, the
  same pair did 72,000/s instead of 79,000).
- Each drive of a node is a volume of DRBD of its own; one volume over several drives has one connection, and the rate
  of one.
- Vitastor before its third store (`old store`) writes each small write three times: to a journal, then data and
  metadata.
"""


def page() -> str:
    """Return the page."""
    parts = [INTRODUCTION + clusters.table_of(DATA), "## Errors", clusters.summary_of(DATA)]
    return "\n\n".join(parts) + "\n" + REMARKS


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
