"""What a command counts for against a volume's limits, and what is left of them (rules U1 to U3)."""

from __future__ import annotations

from dataclasses import dataclass, field

from diskmodel.drive.cloud.tables import CloudTables
from diskmodel.units import NS_PER_S


@dataclass(frozen=True)
class Charge:
    """What a command counts for.

    Attributes
    ----------
    ops, n_bytes : int
    """

    ops: int
    n_bytes: int


def of_run(tables: CloudTables, n_sectors: int) -> Charge:
    """Return what sectors in one run count for (rule U1)."""
    if not n_sectors:
        return Charge(0, 0)
    per_op = tables.op_bytes // tables.sector_bytes
    return Charge(-(-n_sectors // per_op), max(n_sectors * tables.sector_bytes, tables.least_bytes))


@dataclass
class Meter:
    """Counts commands: what continues the one before belongs to it (rule U1)."""

    tables: CloudTables
    op: int = 0
    end: int = 0
    run: int = 0

    def charge(self, op: int, lba: int, n_sectors: int) -> Charge:
        """Return what the next command counts for."""
        goes_on = self.tables.merges and (op, lba) == (self.op, self.end)
        before = self.run if goes_on else 0
        self.op, self.end, self.run = op, lba + n_sectors, before + n_sectors
        new, old = of_run(self.tables, self.run), of_run(self.tables, before)
        return Charge(new.ops - old.ops, new.n_bytes - old.n_bytes)


@dataclass
class _Bucket:
    """One limit: when it lets the next command pass at its own rate, and by how much that may be late."""

    per_s: int
    burst_ns: int
    due_ns: int = 0

    def spend(self, amount: int, now: int) -> int:
        """Take what a command counts for; return how long the limit takes to regain it, ns."""
        ns = amount * NS_PER_S // self.per_s
        self.due_ns = max(self.due_ns, now) + ns
        return ns


@dataclass
class Budgets:
    """The limits of one volume (rule U2)."""

    tables: CloudTables
    ops: list[_Bucket] = field(init=False)
    n_bytes: list[_Bucket] = field(init=False)

    def __post_init__(self) -> None:
        tables = self.tables
        self.ops, self.n_bytes = (
            [_Bucket(rate, burst, burst if tables.is_spent else 0) for rate, burst in zip(*columns, strict=True)]
            for columns in (
                (tables.op_rates.tolist(), tables.op_bursts_ns.tolist()),
                (tables.byte_rates.tolist(), tables.byte_bursts_ns.tolist()),
            )
        )

    @property
    def open_ns(self) -> int:
        """From when on a command may pass."""
        return max((bucket.due_ns - bucket.burst_ns for bucket in (*self.ops, *self.n_bytes)), default=0)

    def spend(self, charge: Charge, now: int) -> int:
        """Let a command pass now; return how long the highest limits are busy with it (rule U5), ns."""
        busy = 0
        for buckets, amount in ((self.ops, charge.ops), (self.n_bytes, charge.n_bytes)):
            for at, bucket in enumerate(buckets):
                ns = bucket.spend(amount, now)
                busy = max(busy, ns) if at == 0 else busy
        return busy
