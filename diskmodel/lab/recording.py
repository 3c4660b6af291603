"""Recording of every arm movement during a run of the reference engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from diskmodel.array import Array
from diskmodel.drive import Access, Arm, Dirty, HddTables
from diskmodel.engine import check_requests, resolve
from diskmodel.engine.reference.command import Command
from diskmodel.engine.reference.hdd import HardDisk
from diskmodel.engine.reference.simpy_engine import Simulation
from diskmodel.errors import DescriptionError, Fault
from diskmodel.loading import dataclass
from diskmodel.records import Requests


@dataclass(frozen=True)
class Movement:
    """One access to the media.

    Attributes
    ----------
    op : int
        `records.Op`.
    lba, n_sectors : int
        First sector on the disk, and how many.
    submitted_ns, start_ns, done_ns : int
        When it entered the disk's queue, when the arm began to move for it, and when it was complete.
    seek_ns, rotation_ns, transfer_ns : int
        Components of the access, which begins at `start_ns`.
    from_cylinder, cylinder : int
        Cylinder of the arm before, and of the first sector.
    angle, arc : float
        Angle of the first sector after the index mark, and angle that all sectors cover, in revolutions.
    """

    op: int
    lba: int
    n_sectors: int
    submitted_ns: int
    start_ns: int
    done_ns: int
    seek_ns: int
    rotation_ns: int
    transfer_ns: int
    from_cylinder: int
    cylinder: int
    angle: float
    arc: float


@dataclass(frozen=True)
class DiskRecord:
    """Movements of one disk in order of start.

    Attributes
    ----------
    disk : int
    revolution_ns, phase_ns : int
        The platter's angle at time t is (t + phase) / revolution.
    n_cylinders, n_sectors : int
    zone_cylinders : tuple of int
        First cylinder of each zone, from the outer edge.
    movements : tuple of Movement
    """

    disk: int
    revolution_ns: int
    phase_ns: int
    n_cylinders: int
    n_sectors: int
    zone_cylinders: tuple[int, ...]
    movements: tuple[Movement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Recording:
    """All movements of a run, disk by disk.

    Attributes
    ----------
    disks : tuple of DiskRecord
        All disks, including idle ones.
    end_ns : int
        Last completion of a host request.
    response_ns, issue_ns : tuple of int
        Response time of each host request, and when it was issued.
    levels : tuple of tuple of int
        What waits to be written (rule Z7) after every so many completions, where that is asked for: time, blocks of the
        controller's cache, sectors in the drives' buffers, pages.
    rebuilt_sectors : int
    """

    disks: tuple[DiskRecord, ...]
    end_ns: int
    response_ns: tuple[int, ...]
    issue_ns: tuple[int, ...]
    levels: tuple[tuple[int, int, int, int, int], ...]
    rebuilt_sectors: int


def record(
    array: Array,
    requests: Requests,
    seed: int = 0,
    check: Callable[[], None] = lambda: None,
    *,
    sample_every: int = 0,
) -> Recording:
    """Run `requests` on an array of hard disks in the SimPy engine, and return the recording.

    Requests served by a drive's cache move no arm and are not recorded. `check` is called at every movement; what it
    raises ends the run. Levels are recorded after every `sample_every` completions; 0: never. Caches begin empty.

    Raises
    ------
    DescriptionError
        When the array has no arms, or two on a spindle, or when a request lies outside the array.
    """
    scenario = replace(resolve(array, seed), sample_every=sample_every)
    tables = scenario.drive
    if not isinstance(tables, HddTables) or tables.arms > 1:
        rule = "has no single arm to show"
        raise DescriptionError(Fault("drive", array.drive.name, rule, "use a hard disk with one actuator"))
    check_requests(scenario, requests)
    simulation = Simulation(scenario, requests)
    heard: list[list[_Heard]] = [[] for _ in simulation.devices]
    for device, list_ in zip(simulation.devices, heard, strict=True):
        assert isinstance(device, HardDisk)
        device.on_access = _listener(list_, check)
    end_ns = simulation.run()
    disks = tuple(
        _disk_record(device, tables, list_)
        for device, list_ in zip(simulation.devices, heard, strict=True)
        if isinstance(device, HardDisk)
    )
    response = simulation.done_ns - simulation.issue_ns
    return Recording(
        disks,
        end_ns,
        tuple(response.tolist()),
        tuple(simulation.issue_ns.tolist()),
        tuple(simulation.levels),
        simulation.raid.front - scenario.layout.rebuild_front,
    )


_Heard = tuple[Command | Dirty, Access, Arm, int]


def _listener(heard: list[_Heard], check: Callable[[], None]) -> Callable[[Command | Dirty, Access, Arm, int], None]:
    def listen(served: Command | Dirty, access: Access, arm: Arm, now: int) -> None:
        check()
        heard.append((served, access, Arm(arm.cylinder, arm.head), now))

    return listen


def _disk_record(device: HardDisk, tables: HddTables, heard: list[_Heard]) -> DiskRecord:
    movements = []
    for served, access, arm, start_ns in heard:
        place = device.mechanics.place(served.lba)
        per_track = device.mechanics.sectors_per_track[place.zone]
        submitted_ns, done_ns = start_ns, access.end_ns
        if isinstance(served, Command):
            # a command in progress at the end of the run has no completion time
            submitted_ns, done_ns = served.submitted_ns, served.done_ns or access.end_ns
        movements.append(
            Movement(
                op=served.op,
                lba=served.lba,
                n_sectors=served.n_sectors,
                submitted_ns=submitted_ns,
                start_ns=start_ns,
                done_ns=done_ns,
                seek_ns=access.seek_ns,
                rotation_ns=access.rotation_ns,
                transfer_ns=access.transfer_ns,
                from_cylinder=arm.cylinder,
                cylinder=place.cylinder,
                angle=round(device.mechanics.angle_index(place) / per_track, 6),
                arc=round(min(served.n_sectors / per_track, 1.0), 6),
            )
        )
    return DiskRecord(
        disk=device.index,
        revolution_ns=device.spindle.revolution_ns,
        phase_ns=device.spindle.phase_ns,
        n_cylinders=tables.n_cylinders,
        n_sectors=tables.n_sectors,
        zone_cylinders=tuple(int(first) for first in tables.zone_first_cylinder[:-1]),
        movements=tuple(movements),
    )
