"""Writes the table of docs/explanation/validation/durable.md: `python -m tests.validation.md.write_flush`."""

from __future__ import annotations

from pathlib import Path

from tests.validation.md import etcd, flush
from tests.validation.md.test_flush import reason

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation" / "durable.md"
BEGIN, END = "<!-- table: tests/validation/md/write_flush.py -->\n", "<!-- end of table -->"
ETCD, END_ETCD = "<!-- etcd: tests/validation/md/write_flush.py -->\n", "<!-- end of etcd -->"
FIGURES = ("iops", "commit_mean_ms", "sync_p99_ms")
TARGETS = {"raw": "disk", "md1_2": "RAID 1 × 2", "md5_4": "RAID 5 × 4", "ext4": "ext4", "xfs": "XFS"}


def line(row: dict[str, str]) -> str:
    model, measured = flush.simulated(row["run"]), flush.measured(row)
    cache = "off" if row["wcache"] == "0" else "on, FUA" if row["fua"] == "1" else "on"
    writers = row["writers"] + (f" + {row['readers']}" if row["readers"] != "0" else "")
    mark = "" if reason(row["run"]) is None else " *"
    cells = [TARGETS[row["target"]], cache, row["pattern"], row["mode"] + mark, writers]
    for name in FIGURES:
        value, was = getattr(model, name), getattr(measured, name)
        cells.append(f"{was:.4g} | {value:.4g} | {value / was - 1:+.1%}" if was else "| |")
    cells.append(f"{measured.flushes_per_write:.3g} | {model.flushes_per_write:.3g}")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    text = PAGE.read_text()
    titles = (
        "| array | cache | pattern | mode | writers | writes/s measured | model | | commit ms | model | | p99 ms | "
    )
    titles += "model | | flushes a write | model |"
    rule = "|" + "---|" * 5 + "--:|" * 11
    start = text.index(BEGIN) + len(BEGIN)
    lines = [line(row) for row in flush.rows() if "_trace_" not in row["run"]]
    text = text[:start] + "\n".join(["", titles, rule, *lines, "", ""]) + text[text.index(END, start) :]
    start = text.index(ETCD) + len(ETCD)
    lines = ["", "| connections | puts/s measured | model | | with its database | |", "|--:|" + "--:|" * 5]
    for n, was in etcd.measured().items():
        value = etcd.simulated(n)
        both = etcd.simulated(n, with_database=True)
        cells = [f"{was:,.0f}", *(f"{one:,.0f} | {one / was - 1:+.0%}" for one in (value, both))]
        lines.append(f"| {n} | {' | '.join(cells)} |")
    PAGE.write_text(text[:start] + "\n".join([*lines, "", ""]) + text[text.index(END_ETCD, start) :])


if __name__ == "__main__":
    main()
