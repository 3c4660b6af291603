"""Twenty questions asked in public about volumes of clouds, Ceph and caches on SSDs, and what people measured.

    python -m tests.validation.beyond.questions [--write]

Each question has the command that answers it; what a source does not say is in its note.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.unit.cli.commands import answer

PAGE = Path(__file__).parents[3] / "docs/explanation/validation/beyond.md"
BEGIN, END = "<!-- rows -->", "<!-- end of rows -->"


@dataclass(frozen=True)
class Question:
    """A question with its command.

    Attributes
    ----------
    asked : str
    command : str
        Of `diskmodel`, without its name.
    figure : str
        Place of the answer in the command's JSON: "iops", "latency_ms.p50".
    unit : str
    measured : float
    source : str
    note : str
        What was taken for what the source does not say, and why the answer is another.
    """

    asked: str
    command: str
    figure: str
    unit: str
    measured: float
    source: str
    note: str = ""

    def answered(self, *more: str) -> float:
        """Return the answer of the command."""
        found: Any = answer(*shlex.split(self.command), *more)
        return float(_at(found, self.figure))

    def interval(self) -> tuple[float, float, float]:
        """Return the answer and the ends of its 95 % interval."""
        found = answer(*shlex.split(self.command))
        name = {"iops": "iops", "mb_s": "iops"}.get(self.figure, f"{self.figure.rpartition('.')[2]}")
        unit = "" if name == "iops" else "_ms"
        value = float(_at(found, self.figure))
        ends = [float(found["interval"].get(f"{name}_{end}{unit}") or "nan") for end in ("low", "high")]
        times = value / float(found["iops"]) if self.figure == "mb_s" else 1.0
        return value, ends[0] * times, ends[1] * times


def _at(found: Mapping[str, Any], place: str) -> Any:
    for name in place.split("."):
        found = found[name]
    return found


CEPH_6 = "ceph 6 nodes, 2x samsung-pm983-1920 each, replica 3, 100GbE, 64 cores, tuned, 1 clients"
CEPH_5 = "ceph 5 nodes, 6x samsung-pm983-1920 each, replica 3, 100GbE, 64 cores, tuned, 1 clients"
CEPH_4 = "ceph 4 nodes, 6x intel-d3-s4510-960 each, 2 osds per drive, replica 2, 25GbE, 32 cores"
GP3 = "aws-gp3, 16000 IOPS, 1000MiB/s"
NVME_CACHE = "cached by micron-7450-pro-960 (bcache writeback, sequential cutoff 0)"

QUESTIONS = (
    # ------------------------------------------------------------------ volumes of clouds
    Question(
        "What does the 8 GB root disk of a t2.micro do?",
        "simulate 'aws-gp2-8GB, full credits' --queue-depth 4 --reads 0 --block 4k --requests 60000",
        "iops", "/s", 3065, "github.com/dyu/vps-comparison, 2017",
    ),
    Question(
        "And what are its slowest writes?",
        "simulate 'aws-gp2-8GB, full credits' --queue-depth 4 --reads 0 --block 4k --requests 60000",
        "latency_ms.p99", "ms", 13.17, "the same",
        "* volumes of small machines of Xen's time let pass in steps of 100 ms, which is not followed",
    ),
    Question(
        "Which rate is left of 100 GB of gp2 when its credits are used up?",
        "simulate aws-gp2-100GiB --queue-depth 16 --reads 100% --block 16k --requests 8000",
        "iops", "/s", 300, "github.com/diux-dev/ncluster/issues/3 (AWS support), 2018",
    ),
    Question(
        "How many operations do four striped gp2 of an RDS instance burst to?",
        "simulate '4x aws-gp2-300GiB raid0, full credits' --queue-depth 64 --reads 100% --block 8k --requests 240000",
        "iops", "/s", 12000, "github.com/awsdocs/amazon-rds-user-guide/pull/170, 2022",
    ),
    Question(
        "Is a gp3 of 16,000 operations a second slower near its limit?",
        f"simulate '{GP3}' --iops 14400 --reads 100% --block 512B --requests 8000",
        "latency_ms.p50", "ms", 0.443, "github.com/scylladb/diskplorer, 2024",
    ),
    Question(
        "One gp3 with 1,000 MiB/s: how many writes of 256 KiB?",
        f"simulate '{GP3}' --queue-depth 256 --reads 0 --block 256k --requests 8000",
        "iops", "/s", 4175, "github.com/miztiik/ebs-gp3-perf, 2020",
        "in its first ten seconds it has a reserve that the answer, which lasts, has not",
    ),
    Question(
        "Two striped gp3 of 4,000 operations, writes of 4 KiB?",
        "simulate '2x aws-gp3 raid0, 4000 IOPS, 1000MiB/s' --queue-depth 256 --reads 0 --block 4k --requests 8000",
        "iops", "/s", 8780, "the same", "the same",
    ),
    Question(
        "What does a premium disk of 250 GiB (P15) do in a test of 30 s?",
        "simulate 'azure-p15, full credits' --queue-depth 128 --reads 0 --block 8k --requests 8000",
        "iops", "/s", 3637, "github.com/VijayRod/demo, container-storage",
    ),
    Question(
        "And with 512 KiB?",
        "simulate 'azure-p15, full credits' --queue-depth 128 --reads 0 --block 512k --requests 8000",
        "iops", "/s", 335, "the same",
    ),
    Question(
        "Does a DS1_v2 make use of a P30 of 5,000 operations?",
        "simulate azure-p30 --instance 3200IOPS,48MB/s --queue-depth 32 --reads 100% --block 4k --requests 8000",
        "iops", "/s", 3200, "danielstocker.net, understanding Azure premium storage, 2016",
    ),
    # ------------------------------------------------------------------ Ceph
    Question(
        "Is 10K IOPS achievable with 12 NVMe drives and one client?",
        f"simulate '{CEPH_6}' --queue-depth 64 --reads 75% --block 4k --requests 3000",
        "iops", "/s", 120_609, "ceph.io, 10k IOPS, 2023 (asked on reddit)",
    ),
    Question(
        "How long does one write of 4 KiB take on 30 NVMe drives?",
        f"simulate '{CEPH_5}' --queue-depth 1 --reads 0 --block 4k --requests 2000",
        "latency_ms.mean", "ms", 0.40, "ceph.io, encryption, 2023",
    ),
    Question(
        "How many reads of 16 KiB does one virtual machine get?",
        f"simulate '{CEPH_5}' --queue-depth 128 --reads 100% --block 16k --requests 3000",
        "iops", "/s", 126_000, "ceph.io, QEMU/KVM tuning, 2022", "calibrated to it",
    ),
    Question(
        "Why does a cluster on SATA SSDs of 2020 do 1,000 durable writes/s with one at a time?",
        f"simulate '{CEPH_4}, 1 clients' --queue-depth 1 --reads 0 --block 4k --requests 2000",
        "iops", "/s", 1000, "github.com/vitalif/vitastor, comparison 1, 2020",
    ),
    Question(
        "What do its 48 OSDs write at most?",
        f"simulate '{CEPH_4}, 8 clients' --queue-depth 512 --reads 0 --block 4k --requests 3000",
        "iops", "/s", 100_000, "the same",
        "* this cluster does a third of what the model says, others about that ([why](ceph.md))",
    ),
    Question(
        "Why are writes on 990 PRO under Rook so slow?",
        "simulate 'rook, 1x samsung-990-pro-1tb each, replica 3, 1 clients' --queue-depth 1 --reads 0 --block 4k "
        "--requests 1500",
        "latency_ms.mean", "ms", 6.36, "github.com/unleashurgeek/home-ops", "three nodes are a guess",
    ),
    Question(
        "What do three nodes with six hard disks give a virtual machine?",
        "simulate 'proxmox, 2x generic-7k2 each, replica 3, 1 clients' --queue-depth 64 --reads 75% --block 4k --span "
        "4GB --requests 1500",
        "iops", "/s", 350, "xenrelay.com, Ceph fio tests, 2023", "network and disks are not said",
    ),
    # ------------------------------------------------------------------ caches on SSDs
    Question(
        "Does bcache limit the rate of durable writes before one disk?",
        f"simulate '1x generic-7k2, {NVME_CACHE}' --queue-depth 1 --reads 0 --block 4k --span 1GiB --sync fsync "
        "--requests 3000",
        "iops", "/s", 1548, "linux-bcache, A. Silva, 2022",
        "* a flush of the disk behind, which the source does not say, decides (with `flush 600us` 1,626/s)",
    ),
    Question(
        "How long does a write to bcache take at 1,000/s, far below any limit?",
        "simulate '16x generic-7k2 raid6, cached by intel-d3-s4610-960 (bcache writeback, sequential cutoff 0)' --iops "
        "1000 --reads 0 --block 4k --span 1GiB --requests 3000",
        "latency_ms.p50", "ms", 0.375, "linux-bcache, C. Balzer, 2019",
        "* neither SSD nor controller is said; its 7 pauses of 5 s are not modeled",
    ),
    Question(
        "What does Open CAS cost in writeback mode while it fills?",
        "simulate '1x intel-d3-s4610-960, cached by intel-d3-s4610-960 (open-cas writeback)' --start empty "
        "--queue-depth 64 --reads 0 --block 4k --span 50GB --requests 4000",
        "iops", "/s", 29_500, "github.com/Open-CAS/open-cas-linux/issues/976, 2021",
        "mean of two releases, 25,000 and 34,000",
    ),
)  # fmt: skip


def rows() -> list[str]:
    """Return the table of all questions."""
    found = [
        "| question | command | answer | 95 % | measured | source, and what to know |",
        "|---|---|--:|--:|--:|---|",
    ]
    for one in QUESTIONS:
        value, low, high = one.interval()
        within = "" if low != low else f"{_in(low, one.unit)} … {_in(high, one.unit)}"
        error = f" ({value / one.measured - 1:+.0%})"
        note = f"{one.source}; {one.note}" if one.note else one.source
        command = f"`diskmodel {one.command}`".replace("'", '"')
        figures = f"{_in(value, one.unit)}{error} | {within} | {_in(one.measured, one.unit)}"
        found.append(f"| {one.asked} | {command} | {figures} | {note} |")
    return found


def _in(value: float, unit: str) -> str:
    return f"{value:,.0f}{unit}" if unit == "/s" else f"{value:.3g} {unit}"


def main() -> None:
    """Print the table, or write it into the page."""
    table = "\n".join(rows())
    print(table)
    if "--write" in sys.argv:
        text = PAGE.read_text(encoding="utf-8")
        before, after = text.partition(BEGIN)[0], text.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
