"""Description of a disk behind a hypervisor, and its tables for the engines."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from diskmodel.drive.card import LONG_BYTES, RATED_BYTES
from diskmodel.drive.perturbation import DrivePerturbation
from diskmodel.drive.profile import Profile
from diskmodel.drive.virtual.perturbed import perturbed_virtual
from diskmodel.drive.virtual.processor import processor_ns, sequential_rate
from diskmodel.drive.virtual.tables import VirtualTables
from diskmodel.drive.whole_numbers import frozen
from diskmodel.units import BytesPerSecond, Nanoseconds


class Virtual(Profile):
    """A disk behind a hypervisor: one thread of the host processes the commands.

    The thread wakes up, takes the waiting commands, copies the data of one after the other and notifies the guest.
    What is behind it (the host's memory, a file, a network) appears only in these times.

    Attributes
    ----------
    read_overhead_ns, write_overhead_ns : int
        Processing of a command, one command at a time; limits the rate of commands.
    read_copy_bytes_per_s, write_copy_bytes_per_s : float, optional
        Rate at which the host copies the data of a command as part of its processing; default: copying takes no time.
    read_latency_ns, write_latency_ns : int
        Fixed part of a command that overlaps with other commands, such as a network behind the host.
    wake_ns : tuple of int
        Time that an idle host needs to wake up: equally likely values, ascending; empty: none.
    completion : str
        "each": a command completes on its own; "batch": all commands that the host processes without a pause complete
        together.
    queue_depth : int
        Commands that the disk accepts at a time.
    """

    formula: ClassVar[str] = "diskmodel.analytic.disks:virtual_disks"
    slower_than_rated: ClassVar[str] = (
        "the host wakes up for every batch, and a batch is longer with more requests outstanding"
    )

    kind: Literal["virtual"] = "virtual"
    read_overhead_ns: Annotated[Nanoseconds, Field(gt=0)]
    write_overhead_ns: Annotated[Nanoseconds, Field(gt=0)]
    read_copy_bytes_per_s: BytesPerSecond | None = None
    write_copy_bytes_per_s: BytesPerSecond | None = None
    read_latency_ns: Nanoseconds = 0
    write_latency_ns: Nanoseconds = 0
    wake_ns: Annotated[tuple[Nanoseconds, ...], Field(max_length=4096)] = ()
    completion: Literal["each", "batch"] = "batch"
    # the queue size of QEMU's virtio disks
    queue_depth: Annotated[int, Field(ge=1, le=65536)] = 256

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if any(a > b for a, b in pairwise(self.wake_ns)):
            raise ValueError("wake_ns: must be ascending; sort it")
        return self

    @property
    def speed_class(self) -> str:
        """Its kind."""
        return self.kind

    def derived(self) -> dict[str, float]:
        """Return the mean time in which its host wakes up."""
        return {"mean_wake_ns": sum(self.wake_ns) / len(self.wake_ns) if self.wake_ns else 0.0}

    def facts(self) -> list[tuple[str, str]]:
        """Return what a command costs, and how commands are answered."""
        answered = "in batches" if self.completion == "batch" else "one by one"
        return [
            ("wake-up", f"{self.derived()['mean_wake_ns'] / 1e3:.3g} us on average"),
            ("read", _cost(self.read_overhead_ns, self.read_copy_bytes_per_s, self.read_latency_ns)),
            ("write", _cost(self.write_overhead_ns, self.write_copy_bytes_per_s, self.write_latency_ns)),
            ("command queue", f"{self.queue_depth} deep, answered {answered}"),
        ]

    @property
    def rated_iops(self) -> float:
        """Reads per second of its processor."""
        tables = self.tables()
        return 1e9 / processor_ns(tables, is_write=False, n_sectors=RATED_BYTES // tables.sector_bytes)

    @property
    def sequential_bytes_per_s(self) -> float:
        """Rate of long commands in its processor, of the slower of reads and writes."""
        return sequential_rate(self.tables(), LONG_BYTES)

    @property
    def accepted_commands(self) -> int:
        """Length of its queue."""
        return self.queue_depth

    @property
    def spread_class(self) -> str:
        """All virtual disks are of one class."""
        return self.kind

    def perturbed(self, perturbation: DrivePerturbation) -> Self:
        """Return a faster or slower disk."""
        return perturbed_virtual(self, perturbation)

    def tables(self) -> VirtualTables:
        """Return the tables for the engines."""
        return VirtualTables(
            sector_bytes=self.sector_bytes,
            n_sectors=self.n_sectors,
            read_overhead_ns=self.read_overhead_ns,
            write_overhead_ns=self.write_overhead_ns,
            read_copy_bytes_per_s=round(self.read_copy_bytes_per_s or 0),
            write_copy_bytes_per_s=round(self.write_copy_bytes_per_s or 0),
            read_latency_ns=self.read_latency_ns,
            write_latency_ns=self.write_latency_ns,
            wake_ns=frozen(self.wake_ns),
            is_batched=self.completion == "batch",
            queue_depth=self.queue_depth,
        )


def _cost(overhead_ns: int, copy_bytes_per_s: float | None, latency_ns: int) -> str:
    """Return what one command costs a virtual disk."""
    parts = [f"{overhead_ns / 1e3:.3g} us a command"]
    if copy_bytes_per_s:
        parts.append(f"copied at {copy_bytes_per_s / 1e6:,.4g} MB/s")
    if latency_ns:
        parts.append(f"{latency_ns / 1e3:.3g} us of latency")
    return ", ".join(parts)
