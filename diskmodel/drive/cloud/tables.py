"""Tables of a volume for the engines."""

from __future__ import annotations

from typing import ClassVar

from diskmodel.drive.tables_card import DriveTables
from diskmodel.drive.whole_numbers import Int64
from diskmodel.loading import dataclass
from diskmodel.schema import Beside
from diskmodel.units import in_digits, pretty_bytes

#: By how much the operations that a command counts for differ from one before it is said.
_COUNTS_AS_ONE = 0.05


@dataclass(frozen=True, eq=False)
class CloudTables(DriveTables):
    """Limits and latencies of a volume.

    Attributes
    ----------
    sector_bytes, n_sectors : int
    op_rates, byte_rates : int64, shape (n,)
        Limits of operations and of bytes a second, each list from the highest down; empty: no limit.
    op_bursts_ns, byte_bursts_ns : int64, shape (n,)
        By how much a limit may be ahead of its rate.
    op_bytes : int
        A run of sectors counts as one operation for each so many bytes.
    least_bytes : int
        What a run counts for at least.
    merges : bool
        Whether what continues the command before belongs to its run.
    read_delay_ns, write_delay_ns : int64, shape (n,)
        Equally likely latencies of a command that has passed the limits.
    is_spent : bool
        Whether nothing is left of the bursts at first.
    queue_depth : int
    """

    sector_bytes: int
    n_sectors: int
    op_rates: Int64
    byte_rates: Int64
    op_bursts_ns: Int64
    byte_bursts_ns: Int64
    op_bytes: int
    least_bytes: int
    merges: bool
    read_delay_ns: Int64
    write_delay_ns: Int64
    is_spent: bool
    queue_depth: Beside[int]

    kind: ClassVar[str] = "cloud"
    devices: ClassVar[str] = "diskmodel.engine.reference.remote.cloud_volume:CloudVolumeDevice.all_of"

    @property
    def takes_flushes(self) -> bool:
        """Whether a host that wants its writes safe sends flushes (rule Y2): what was answered is safe."""
        return False

    def said_of(self, n_commands: int, n_charged: int) -> tuple[str, ...]:
        """Return how many operations a command counted for, where that is not one."""
        if not n_commands or not len(self.op_rates) or abs(n_charged / n_commands - 1) < _COUNTS_AS_ONE:
            return ()
        unit, each = pretty_bytes(self.op_bytes), in_digits(n_charged / n_commands)
        merged = "; requests in order are merged up to that" if self.merges else ""
        return (f"each I/O counts as {each} operations of the provider: one for every {unit} that is begun{merged}",)

    @property
    def n_drawn_times(self) -> int:
        """Each volume draws which command passes its limits, and latencies."""
        return 1

    @property
    def mean_latency_ns(self) -> tuple[float, float]:
        """Mean latency of a read and of a write that need not wait."""
        columns = (self.read_delay_ns, self.write_delay_ns)
        read, write = (float(column.mean()) if len(column) else 0.0 for column in columns)
        return read, write
