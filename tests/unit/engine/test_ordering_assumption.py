"""A result names what the order of queued commands was assumed from, where there was a choice."""

import pytest

from diskmodel import Array, Workload, simulate


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
