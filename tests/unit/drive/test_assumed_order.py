"""Profiles whose order of queued commands was not measured: what they assume, and what is drawn of it."""

import pytest

from diskmodel import Array, Workload, catalogue, simulate
from diskmodel.drive import Hdd, load_drive
from diskmodel.drive.assumed_order import ASSUMED_ORDERS, Order
from diskmodel.drive.drawn import drawn, drawn_parameters
from diskmodel.errors import DescriptionError


def order_of(drive: object) -> Order:
    assert isinstance(drive, Hdd)
    queue = drive.queue
    return Order(
        queue.miss_margin_ns,
        queue.age_weight,
        queue.committed,
        queue.weighed_writes,
        queue.miss_ratio,
        queue.overdue_ns,
        queue.scheduler,
        queue.weighed,
    )


@pytest.mark.parametrize("name", list(catalogue()))
def test_bundled_drives_have_the_order_that_they_assume(name: str) -> None:
    """No bundled drive has the ideal order, which no measured drive reaches."""
    drive = load_drive(name)
    if isinstance(drive, Hdd):
        assert drive.queue.scheduler != "sptf"
        if drive.queue.assumption is not None:
            assert order_of(drive) == drive.queue.assumption.order


@pytest.mark.parametrize("kind", list(ASSUMED_ORDERS))
def test_the_assumed_order_is_on_the_slow_side_of_what_is_drawn(kind: str) -> None:
    """No drawn order is slower by more than 8 %; nearline ones may commit more than their sheets leave room for, and
    desktop ones, whose own order is known at depth 32, may order four commands as badly as drives that wait."""
    drive = load_drive("generic-7k2")

    def iops(order: Order, depth: int) -> float:
        queue = {"depth": 32, **order._asdict()}
        array = Array.parse({"drive": drive.to_dict() | {"queue": queue}, "layout": {"level": "jbod", "disks": 1}})
        workload = Workload.parse({"size": "4 KiB", "clients": depth})
        return simulate(array, workload, n_requests=4000, profile_draws=0).iops.mean

    kinds = ASSUMED_ORDERS[kind]
    for depth in (4, 16):
        slowest = min(iops(order, depth) for order in kinds.drawn)
        assert iops(kinds.order, depth) < slowest * (1.25 if kind in ("nearline", "desktop-sata") else 1.08)


def test_each_measured_order_is_drawn_once() -> None:
    drive = load_drive("generic-7k2")
    assert sorted(map(order_of, drawn(drive, 16))) == sorted(ASSUMED_ORDERS["any-sata"].drawn)
    assert len(drawn(drive, 2, seed=3)) == 2
    assert drawn_parameters(drive)[0] == "queue.miss_margin_ns"
    assert not drawn_parameters(load_drive("wd-raptor-wd740gd"))


def test_drawn_orders_count_as_measured() -> None:
    assert all(
        isinstance(item, Hdd) and item.queue.assumed_from is None for item in drawn(load_drive("generic-10k"), 4)
    )


def test_uncertain_parameters_and_orders_are_drawn_together() -> None:
    data = load_drive("generic-15k").to_dict()
    data["uncertainty"] = {"names": ["read_overhead_ns"], "covariance": [[1e8]]}
    found = drawn(Hdd.parse(data), 8)
    assert {order_of(item) for item in found} == set(ASSUMED_ORDERS["sas"].drawn)
    assert len({item.read_overhead_ns for item in found if isinstance(item, Hdd)}) == 8


def test_intervals_include_the_order_where_disks_have_a_choice() -> None:
    def sources(drive: str, clients: int) -> set[str]:
        array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
        result = simulate(array, Workload.parse({"size": "4 KiB", "clients": clients}), n_requests=2000)
        assert result.prediction is not None
        return set(result.prediction.sources)

    assert "order of commands" not in sources("generic-7k2", 2)
    assert "order of commands" not in sources("wd-raptor-wd740gd", 16)
    assert "order of commands" in sources("generic-7k2", 16)


def test_another_order_has_no_assumption() -> None:
    with pytest.raises(DescriptionError, match="needs scheduler rpo, and the scheduler is sptf"):
        Hdd.parse(load_drive("generic-15k").to_dict() | {"queue": {"scheduler": "sptf", "assumed_from": "sas"}})
