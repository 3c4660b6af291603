"""The kernel follows a stream from the last track that it has read; the reference engine from its beginning."""

import pytest

from diskmodel import Array, Workload
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from tests.differential.compare import between


@pytest.mark.parametrize("load", [{"clients": 1}, {"rate": "150/s"}], ids=["as fast as it goes", "slower"])
@pytest.mark.parametrize("zero_latency", [False, True])
def test_a_stream_over_many_tracks(load: dict[str, object], zero_latency: bool) -> None:
    """A reader that waits for the drive, and one that the drive waits for, go through some 100 tracks."""
    drive = {
        "kind": "hdd",
        "name": "small",
        "capacity_bytes": "4 GB",
        "rpm": 7200,
        "outer": "100 MB/s",
        "inner": "60 MB/s",
        "heads": 2,
        "seek": {"average": "8 ms"},
        "cache": {"size": "8 MiB", "segments": 4, "read_ahead": "1 MiB"},
        "zero_latency": zero_latency,
    }
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
    workload = Workload.parse({"size": "128 KiB", "read_ratio": 1, "addresses": {"pattern": "sequential"}} | load)
    scenario = resolve(array, 1)
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=600, seed=1)
    assert requests.length.sum() > 60 * drive_track(array)
    assert between(requests, run(scenario, requests, "simpy"), run(scenario, requests, "native")) is None


def drive_track(array: Array) -> int:
    """Bytes of the longest track."""
    return round(array.drive.outer_bytes_per_s * 60 / array.drive.rpm)
