"""What the host of an array of flash drives takes where nobody described it."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.errors import DescriptionError
from diskmodel.explanation.otherwise import otherwise
from diskmodel.host.assumed import HOSTS, AssumedHost
from diskmodel.host.description import Host, HostKind
from diskmodel.host.limit import left_out

NVME = "8x samsung-pm9a3-7680 "


def reads(**more: Any) -> Workload:
    """Return random reads of 4 KiB."""
    return Workload.parse({"size": "4 KiB"} | more)


def host(words: str, load: Workload, **given: Any) -> Host:
    """Return the host that an array has under a load."""
    fields = {"host": given} if given else {}
    return Array(words, **fields).behind_host(load).host


@pytest.mark.parametrize(("depth", "processors"), [(1, 1), (32, 1), (33, 2), (512, 16), (100_000, 32)])
def test_a_processor_submits_32_outstanding_requests(depth: int, processors: int) -> None:
    found = host(NVME + "raid0", reads(clients=depth))
    assert isinstance(found, AssumedHost)
    assert (found.submission_ns, found.processors) == (5_300, processors)


@pytest.mark.parametrize(("rate", "processors"), [("60000/s", None), ("60001/s", 32)])
def test_a_rate_that_takes_more_than_one_processor_has_all(rate: str, processors: int | None) -> None:
    found = host(NVME + "raid0", reads(rate=rate))
    assert found.processors == processors
    assert not left_out(found, float(rate.removesuffix("/s")))


@pytest.mark.parametrize(
    ("level", "lock_ns"), [("raid0", None), ("raid10", None), ("raid5", 500), ("raid6", 500), ("raid50", 250)]
)
def test_parity_of_linux_md_has_a_lock_for_each_group(level: str, lock_ns: int | None) -> None:
    found = host(NVME + level, reads(clients=64))
    assert found.lock_ns == lock_ns
    assert found.write_lock_ns == (None if lock_ns is None else 4 * lock_ns)


def test_a_controller_with_a_cache_is_not_linux_md() -> None:
    assert host(NVME + "raid5, 1GiB cache", reads(clients=64)).lock_ns is None
    assert host(NVME + "raid0, 1GiB cache", reads(clients=64), processors=128).lock_ns is None


@pytest.mark.parametrize(
    ("given", "lock_ns"),
    [
        ({}, 230),  # 32 processors submit 6 million, the counter lets 4.3 pass
        ({"processors": 23}, None),
        ({"processors": 43, "kind": "libaio-2014"}, None),
        ({"processors": 44, "kind": "libaio-2014"}, 230),
        ({"submission": 0}, 230),
        ({"processors": 128, "lock": 0}, 0),  # Linux 6.3 and later
    ],
)
def test_md_without_parity_counts_requests_of_hosts_that_submit_more(
    given: dict[str, Any], lock_ns: int | None
) -> None:
    assert host(NVME + "raid0", reads(clients=4096), **given).lock_ns == lock_ns


def test_a_pool_has_no_counter_of_md() -> None:
    assert host(NVME + "mirror", reads(clients=4096), submission=0).lock_ns is None


def test_eight_drives_in_raid_0_are_slower_than_eight_drives() -> None:
    """3.8 million were measured where the drives alone made 7 (github.com/neilbrown/mdadm/issues/28)."""
    fast = Array("8x micron-7450-pro-1920 raid0", host={"processors": 128, "kind": "libaio-2014"})
    alone = fast.model_copy(update={"host": fast.host.model_copy(update={"lock_ns": 0})})
    load = reads(clients=2048)
    per_s = [
        simulate(one, load, n_requests=20_000, with_angles=False, profile_draws=0).iops.mean for one in (fast, alone)
    ]
    assert 3.2e6 < per_s[0] < 4.4e6
    assert per_s[1] > 6e6


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"submission": "5 us"}, (5_000, None, 500, 2_000)),
        ({"kind": "libaio-2014"}, (10_000, 2, 500, 2_000)),
        ({"processors": 7}, (5_300, 7, 500, 2_000)),
        ({"lock": 0}, (5_300, 2, 0, None)),
        ({"submission": 0, "lock": 0}, (0, None, 0, None)),
        ({"pause": "1 ms", "pause_interval": "1 s"}, (None, None, None, None)),
        ({"is_buffered": True}, (None, None, None, None)),
    ],
)
def test_what_is_given_stays(given: dict[str, Any], found: tuple[int | None, ...]) -> None:
    it = host(NVME + "raid5", reads(clients=64), **given)
    assert (it.submission_ns, it.processors, it.lock_ns, it.write_lock_ns) == found


@pytest.mark.parametrize("words", ["8x generic-15k raid5", "1x samsung-pm9a3-7680 single"])
def test_hard_disks_and_drives_on_their_own_have_the_host_that_is_described(words: str) -> None:
    array = Array(words)
    assert array.behind_host(reads(clients=64)) is array


def test_drives_that_are_as_described_have_the_host_that_is_described() -> None:
    array = Array(NVME + "raid5")
    exact = array.model_copy(update={"drive": array.drive.model_copy(update={"exact": True})})
    assert exact.behind_host(reads(clients=64)) is exact


@pytest.mark.parametrize(
    ("kind", "measured", "made"),
    [("libaio-2014", (64_000, 173_000), 100_000), ("libaio-2020", (180_000, 195_000), 188_700)],
)
def test_one_thread_limits_an_array_and_the_answer_says_so(
    kind: HostKind, measured: tuple[int, int], made: int
) -> None:
    """What one job of fio was measured to submit on hosts of these years; the drives make 870,000."""
    result = simulate(Array(NVME + "raid0", host={"kind": kind}), reads(clients=32), n_requests=4000)
    assert float(result.iops.mean) == pytest.approx(made, rel=0.01)
    prediction = result.prediction
    assert prediction is not None
    interval = prediction.intervals["iops"]
    assert interval.low < measured[0] < measured[1] < interval.high
    (said,) = [text for text in result.messages if "limits the rate" in text]
    assert "one thread is assumed to submit" in said
    assert f"as on {HOSTS[kind].title}" in said
    assert "--threads, --host" in said


def test_the_lock_of_linux_md_limits_and_the_answer_says_so() -> None:
    """Published: 1.6 million reads a second of eight NVMe drives, 2 million of RAM disks, 3.9 since Linux 5.14."""
    result = simulate(Array(NVME + "raid6"), reads(clients=1024), n_requests=8000)
    prediction = result.prediction
    assert prediction is not None
    interval = prediction.intervals["iops"]
    assert interval.low < 1_600_000 < 3_900_000 < interval.high
    assert any(text.startswith("Linux md limits the rate") for text in result.messages)


def test_what_is_assumed_of_the_host_is_said_where_it_decides() -> None:
    array, load = Array(NVME + "raid0"), reads(clients=32)
    result = simulate(array, load, n_requests=4000, profile_draws=0)
    (said,) = otherwise(array, load, result, seed=1, names=["host"])
    assert said.in_words(is_closed=True).startswith("Assumed: a host of 2020 to 2025 (libaio); with --host libaio-2014")
    assert said.iops == pytest.approx(100_000, rel=0.01)
    slow = reads(clients=1)
    assert not otherwise(array, slow, simulate(array, slow, n_requests=2000, profile_draws=0), seed=1, names=["host"])


def test_a_kind_of_host_and_its_time_are_one_too_many() -> None:
    with pytest.raises(DescriptionError, match="leave out one"):
        Array(NVME + "raid0", host={"kind": "libaio-2014", "submission": "5 us"})
