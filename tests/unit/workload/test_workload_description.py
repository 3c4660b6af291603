"""What files may say about a workload, and what is refused."""

import tomllib
from pathlib import Path

import pytest

from diskmodel.errors import DescriptionError
from diskmodel.workload import Bursts, Closed, Poisson, Workload, Zipf

EXAMPLES = Path(__file__).parents[3] / "examples"

MIXED = """
name = "mixed"
span = "50%"

[[streams]]
name = "oltp"
read = "70%"
sizes = [{size = "8 KiB", weight = 3}, {size = "16 KiB"}]
addresses = {pattern = "zipf", theta = 0.9, granule = "1 MiB"}
rate = "300/s"
profile = {relative_rates = [1, 2, 3], period = "24 h"}

[[streams]]
name = "log"
read_ratio = 0.0
size = "4 KiB"
addresses = "sequential"
span = "1 GiB"
offset = "10 GiB"
clients = 1
think = "2 ms"

[[streams]]
name = "backup"
size = "1 MiB"
addresses = {pattern = "sequential", n_readers = 2}
arrival = {kind = "bursts", on_rate = "100/s", mean_on = "10 s", mean_off = "50 s"}

[[streams]]
name = "paced"
size = "4 KiB"
queue_depth = 40
client_rate = "80/s"
"""


@pytest.mark.parametrize("name", ["random-read", "oltp"])
def test_examples_load_and_round_trip(name):
    workload = Workload.load(EXAMPLES / f"{name}.toml")
    assert Workload.parse(tomllib.loads(workload.to_toml())) == workload
    assert len(workload.requests(capacity_bytes=10**9, n=100, seed=1)) == 100


def test_short_forms_mean_what_they_say():
    workload = Workload.parse(tomllib.loads(MIXED))
    oltp, log, backup, paced = workload.streams
    assert workload.span_ratio == 0.5
    assert oltp.read_ratio == 0.7
    assert [(share.size_bytes, share.weight) for share in oltp.sizes] == [(8192, 3.0), (16384, 1.0)]
    assert oltp.mean_size_bytes == 10240
    assert isinstance(oltp.addresses, Zipf)
    assert isinstance(oltp.arrival, Poisson)
    assert oltp.arrival.profile is not None
    assert oltp.arrival.profile.period_ns == 86_400 * 10**9
    assert log.arrival == Closed(clients=1, think_ns=2_000_000)
    assert (log.span_bytes, log.offset_bytes) == (2**30, 10 * 2**30)
    assert isinstance(backup.arrival, Bursts)
    assert backup.expected_rate_per_s == pytest.approx(100 * 10 / 60)
    assert isinstance(paced.arrival, Closed)
    assert paced.arrival.pace_ns == 12_500_000
    assert Workload.parse(tomllib.loads(workload.to_toml())) == workload


@pytest.mark.parametrize(
    ("data", "fields"),
    [
        ({"size": "0 B", "clients": 1}, {"sizes.0.size_bytes"}),
        ({"size": "1000 B", "clients": 1}, {"sizes.0.size_bytes"}),
        ({"size": "4 KiB", "clients": 0, "read_ratio": 2.0}, {"arrival.closed.clients", "read_ratio"}),
        ({"size": "4 KiB"}, {"workload"}),
        ({"size": 4096, "clients": 1}, {"size"}),
        ({"size": "4 KiB", "clients": 1, "rate": "5/s"}, {"workload"}),
        ({"size": "4 KiB", "clients": 1, "color": "red"}, {"color"}),
        ({"sizes": [], "clients": 1}, {"sizes"}),
        ({"size": "4 KiB", "clients": 1, "addresses": "zipff"}, {"addresses"}),
        ({"size": "4 KiB", "clients": 1, "span": "1 GB", "span_ratio": 0.5}, {"workload"}),
        ({"streams": []}, {"streams"}),
        ({"streams": [{"name": "a", "size": "4 KiB", "clients": 1}] * 2}, {"streams"}),
        ({"streams": [{"size": "4 KiB", "rate_per_s": 0}]}, {"streams.0.arrival.poisson.rate_per_s"}),
        (
            {
                "size": "4 KiB",
                "rate_per_s": 5,
                "addresses": {"pattern": "hot_spot", "access_ratio": 1, "space_ratio": 1},
            },
            {"addresses.hot_spot"},
        ),
    ],
)
def test_faults_name_their_field_and_no_other(data, fields):
    with pytest.raises(DescriptionError) as caught:
        Workload.parse(data)
    assert {fault.field for fault in caught.value.faults} == fields


def test_regions_are_checked_against_the_array():
    workload = Workload.parse(
        {
            "streams": [
                {"name": "a", "size": "4 KiB", "clients": 1, "span": "2 GB"},
                {"name": "b", "size": "1 MiB", "clients": 1, "span": "64 KiB"},
                {"name": "c", "size": "4 KiB", "clients": 1, "offset": "3 GB"},
                {"name": "d", "size": "4 KiB", "clients": 1},
            ]
        }
    )
    with pytest.raises(DescriptionError) as caught:
        workload.requests(capacity_bytes=10**9, n=10, seed=0)
    assert [fault.field for fault in caught.value.faults] == ["streams.0.span", "streams.1.span", "streams.2.span"]


def test_load_and_queue_depth_scale():
    workload = Workload.parse(tomllib.loads(MIXED))
    twice = workload.scaled(2.0)
    assert twice.offered_rate_per_s == pytest.approx(2 * workload.offered_rate_per_s)
    assert twice.queue_depth == 82
    deep = workload.with_queue_depth(10)
    assert [s.arrival.clients for s in deep.streams if isinstance(s.arrival, Closed)] == [1, 9]
    with pytest.raises(DescriptionError):
        workload.with_queue_depth(1)
    with pytest.raises(DescriptionError):
        Workload.parse({"size": "4 KiB", "rate": "5/s"}).with_queue_depth(4)
    with pytest.raises(DescriptionError):
        workload.scaled(0)
