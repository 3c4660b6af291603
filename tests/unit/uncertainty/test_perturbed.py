"""Drives that a draw describes."""

import math

import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.drive import Hdd, catalogue, load_drive
from diskmodel.drive.geometry import mean_seek_ns
from diskmodel.uncertainty.perturbation import Perturbation
from diskmodel.uncertainty.perturbed import perturbed

ONE_AT_A_TIME = Workload.parse({"size": "4 KiB", "clients": 1})


def rate(array: Array, load: Workload) -> float:
    return simulate(array, load, n_requests=3000, profile_draws=0).iops.mean


def test_a_faster_flash_drive_is_faster_at_everything() -> None:
    """In a closed load the rate is proportional to the speed, but for the interface."""
    array = Array("samsung-pm893-960", "jbod", 1)
    for load in (ONE_AT_A_TIME, Workload.parse({"size": "4 KiB", "clients": 8, "read_ratio": 0.5})):
        faster, same = perturbed(array, load, Perturbation(speed=0.1))
        assert same is load
        assert rate(faster, load) / rate(array, load) == pytest.approx(math.exp(0.1), rel=0.03)
        assert faster.drive.interface_bytes_per_s == array.drive.interface_bytes_per_s  # type: ignore[union-attr]


@pytest.mark.parametrize("drive", ["generic-7k2", "seagate-exos-x18", "seagate-savvio-10k1"])
def test_a_faster_hard_disk_seeks_faster_and_rotates_as_it_is_described(drive: str) -> None:
    array = Array(drive, "jbod", 1)
    faster, _ = perturbed(array, ONE_AT_A_TIME, Perturbation(speed=0.1))
    assert rate(faster, ONE_AT_A_TIME) / rate(array, ONE_AT_A_TIME) == pytest.approx(math.exp(0.1), rel=0.02)
    described, drawn = array.drive, faster.drive
    assert isinstance(described, Hdd)
    assert isinstance(drawn, Hdd)
    assert drawn.period_ns == described.period_ns
    assert drawn.interface_bytes_per_s == described.interface_bytes_per_s
    assert drawn.read_overhead_ns == described.read_overhead_ns


def test_the_same_draw_of_a_drive_is_the_same_drive() -> None:
    """In several arrays; what is not about the drive makes no other one."""
    arrays = [Array("8x generic-7k2 raid5"), Array("4x generic-7k2 raid10")]
    arrays[1] = arrays[1].model_copy(update={"drive": arrays[0].drive})
    drawn = Perturbation(positioning=0.1, overhead=0.2)
    first, second, tail, other = (
        perturbed(array, ONE_AT_A_TIME, draw)[0].drive
        for array, draw in [
            (arrays[0], drawn),
            (arrays[1], drawn),
            (arrays[1], Perturbation(positioning=0.1, overhead=0.2, p99=0.3)),
            (arrays[1], Perturbation(positioning=0.1, overhead=0.3)),
        ]
    )
    assert first == second == tail
    assert first != other


def test_positioning_changes_the_time_of_a_random_access() -> None:
    array = Array("generic-7k2", "jbod", 1)
    slower, _ = perturbed(array, ONE_AT_A_TIME, Perturbation(positioning=0.1))
    assert rate(array, ONE_AT_A_TIME) / rate(slower, ONE_AT_A_TIME) == pytest.approx(math.exp(0.1), rel=0.015)
    assert isinstance(slower.drive, Hdd)
    assert slower.drive.period_ns == load_drive("generic-7k2").period_ns  # type: ignore[union-attr]


@pytest.mark.parametrize("drive", ["generic-7k2", "seagate-exos-x18"])
def test_faster_writes_leave_reads_as_they_are(drive: str) -> None:
    array = Array(drive, "jbod", 1, drive_write_cache=False)
    faster, _ = perturbed(array, ONE_AT_A_TIME, Perturbation(writes=0.1))
    writes = Workload.parse({"size": "4 KiB", "clients": 1, "read_ratio": 0})
    # where tracks begin depends on how long writes settle
    assert rate(faster, ONE_AT_A_TIME) == pytest.approx(rate(array, ONE_AT_A_TIME), rel=0.005)
    assert rate(faster, writes) / rate(array, writes) == pytest.approx(math.exp(0.1), rel=0.02)
    assert isinstance(faster.drive, Hdd)
    assert faster.drive.period_ns == array.drive.period_ns  # type: ignore[union-attr]


def test_denser_tracks_are_read_faster_and_seeks_are_the_same() -> None:
    array = Array("seagate-exos-x18", "jbod", 1)
    scan = Workload.parse({"size": "1 MiB", "clients": 2, "addresses": {"pattern": "sequential"}})
    denser, _ = perturbed(array, scan, Perturbation(sequential=0.1))
    assert rate(denser, scan) / rate(array, scan) == pytest.approx(math.exp(0.1), rel=0.02)
    seeks = [mean_seek_ns(one.drive.tables()) for one in (array, denser)]  # type: ignore[arg-type]
    assert seeks[1] == pytest.approx(seeks[0], rel=0.005)
    assert denser.usable_bytes == array.usable_bytes


def test_nothing_moved_is_the_same_drive() -> None:
    for name in ("generic-7k2", "intel-d3-s4610-960"):
        array = Array(name, "raid5", 4)
        assert perturbed(array, ONE_AT_A_TIME, Perturbation())[0] == array


def test_moves_add_up() -> None:
    both = Perturbation(speed=0.1, p99=0.2).plus(Perturbation(speed=-0.3, host=0.4))
    assert both == Perturbation(speed=pytest.approx(-0.2), p99=0.2, host=0.4)  # type: ignore[arg-type]


@pytest.mark.parametrize(("power", "depth"), [(-1.0, 2), (-0.5, 3), (0.0, None), (1.0, 24)])
def test_destages_at_a_time_are_those_that_controllers_can_be_set_to(power: float, depth: int | None) -> None:
    array = Array("generic-10k", "jbod", 1, controller={"write_cache": {"size": "64 MiB"}})
    perturbed_array, _ = perturbed(array, ONE_AT_A_TIME, Perturbation(destaging=power))
    assert perturbed_array.controller.write_cache is not None
    assert perturbed_array.controller.write_cache.destage_depth == depth


@pytest.mark.parametrize(
    "name", [name for name, drive in catalogue().items() if isinstance(drive, Hdd) and drive.cylinders is not None]
)
@pytest.mark.parametrize("sequential", [-0.4, 0.4])
def test_a_drive_with_known_tracks_can_be_drawn(name: str, sequential: float) -> None:
    """Tracks that are counted do not hold more or less: other rates would leave no room for the capacity."""
    drive = catalogue()[name]
    assert isinstance(drive, Hdd)
    tables = drive.perturbed(Perturbation(sequential=sequential)).tables()
    assert tables.sectors_per_track.tolist() == drive.tables().sectors_per_track.tolist()
