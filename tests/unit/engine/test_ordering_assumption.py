"""A result names what the order of queued commands was assumed from, where there was a choice."""

import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.drive import load_drive
from diskmodel.errors import DescriptionError


@pytest.mark.parametrize(
    ("drive", "clients", "assumed"),
    [
        ("seagate-exos-x18", 8, "recent nearline drives"),
        ("seagate-cheetah-15k7", 8, "twelve SAS drives"),
        ("seagate-exos-x18", 2, ""),
        ("wd-raptor-wd740gd", 8, ""),  # its own queue depths were measured
    ],
)
def test_an_assumed_order_is_named_where_it_matters(drive: str, clients: int, assumed: str) -> None:
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
    result = simulate(array, Workload.parse({"size": "4 KiB", "clients": clients}), n_requests=400)
    named = [message for message in result.messages if "how it orders them is assumed" in message]
    assert [assumed in message for message in named] == ([True] if assumed else [])


def test_no_more_commands_are_in_a_disk_than_it_takes() -> None:
    array = Array.parse({"drive": "generic-7k2", "layout": {"level": "jbod", "disks": 1}})
    assert array.drive.kind == "hdd"
    result = simulate(array, Workload.parse({"size": "4 KiB", "clients": 500}), n_requests=2000)
    (named,) = [message for message in result.messages if "how it orders them is assumed" in message]
    assert named.startswith(f"on average up to {array.drive.queue.depth} commands are in a disk")


@pytest.mark.parametrize(("clients", "is_named"), [(1, False), (2, False), (8, True)])
def test_a_drive_of_single_requests_names_what_it_takes_for_granted(clients: int, is_named: bool) -> None:
    data = load_drive("generic-10k").to_dict() | {"queue": {"assumed_from": "one-at-a-time"}}
    array = Array.parse({"drive": data, "layout": {"level": "jbod", "disks": 1}})
    result = simulate(array, Workload.parse({"size": "4 KiB", "clients": clients}), n_requests=400)
    named = [message for message in result.messages if "because its profile comes from single requests" in message]
    assert len(named) == is_named
    assert result.prediction is not None
    assert "order of commands" not in result.prediction.sources  # nothing is known of what else it may do
    if is_named:
        assert named[0].startswith("on average up to 8 commands wait for a disk or are in it")


def test_only_a_queue_of_one_is_assumed_to_be_one() -> None:
    data = load_drive("generic-10k").to_dict() | {"queue": {"assumed_from": "one-at-a-time", "depth": 4}}
    with pytest.raises(DescriptionError, match="needs depth 1, and the queue is 4 deep"):
        Array.parse({"drive": data, "layout": {"level": "jbod", "disks": 1}})
