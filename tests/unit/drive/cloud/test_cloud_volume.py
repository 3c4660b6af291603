"""Volumes of clouds: what a command counts for, limits, bursts, words, and that both engines agree on them."""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel import Array, Workload, load_drive, simulate
from diskmodel.drive import CloudVolume
from diskmodel.drive.cloud.limits import Budgets, Charge, Meter, of_run
from diskmodel.errors import DescriptionError
from tests.unit.cli.commands import answer, refusal

GP3 = {
    "kind": "cloud",
    "name": "gp3",
    "capacity": "1000 GiB",
    "iops": 16_000,
    "throughput": "1000 MiB/s",
    "read_p50": "0.44 ms",
    "read_p95": "0.72 ms",
}


def volume(**fields: object) -> CloudVolume:
    return CloudVolume.parse(GP3 | fields)


def test_u1_a_run_counts_once_for_each_unit_that_it_begins() -> None:
    tables = volume(least="1 MiB", op="256 KiB").tables()
    assert of_run(tables, 1) == Charge(1, 1 << 20)
    assert of_run(tables, 513) == Charge(2, 1 << 20)
    meter = Meter(tables)
    # 64 KiB that continue each other are one operation of 256 KiB, and reach the least count together
    charges = [meter.charge(0, 128 * at, 128) for at in range(17)]
    assert sum(charge.ops for charge in charges[:16]) == 4
    assert sum(charge.n_bytes for charge in charges[:16]) == 1 << 20
    assert charges[16] == Charge(1, 64 << 10)
    assert meter.charge(1, 128 * 17, 128) == Charge(1, 1 << 20)  # a write begins a run


def test_u2_a_limit_passes_at_its_rate_once_its_burst_is_used_up() -> None:
    budgets = Budgets(volume(iops=1000, bucket="2 ms").tables())
    passed = []
    now = 0
    while len(passed) < 6:
        now = max(now, budgets.open_ns)
        budgets.spend(Charge(1, 4096), now)
        passed.append(now)
    assert passed == [0, 0, 0, 1_000_000, 2_000_000, 3_000_000]


def test_u3_credits_last_as_long_as_the_provider_says() -> None:
    # gp2: 5.4 million credits, 3 operations a second for each GiB; 100 GiB burst for half an hour and three minutes
    limit = load_drive("aws-gp2, 100GiB").ops_limit
    assert (limit.per_s, limit.burst_per_s) == (300, 3000)
    assert limit.burst_seconds(1e9) == pytest.approx(5.4e6 / 2700)
    assert limit.burst_seconds(300) == np.inf


@pytest.mark.parametrize("seed", range(6))
def test_both_engines_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = volume(
        iops=int(rng.integers(500, 5000)),
        throughput=f"{rng.integers(5, 200)} MiB/s",
        burst_iops=6000,
        credits=int(rng.integers(0, 500)),
        bucket=f"{rng.integers(0, 300)} ms",
        state=str(rng.choice(["spent", "full"])),
        least=f"{rng.choice([0, 64])} KiB",
        write_p50="1 ms",
        write_p95=f"{rng.integers(1, 9)} ms",
    )
    level = str(rng.choice(["jbod", "raid0", "raid10", "raid5"]))
    limit = {"most_iops": int(rng.integers(500, 9000))} if rng.random() < 0.5 else {}
    disks = 1 if level == "jbod" else 4
    array = Array.parse({"drive": drawn, "layout": {"level": level, "disks": disks}, "controller": limit})
    load = {"clients": int(rng.integers(1, 80))} if rng.random() < 0.5 else {"rate_per_s": int(rng.integers(100, 4000))}
    size = f"{rng.choice([4, 64, 300, 1024])} KiB"
    workload = Workload.parse({"read_ratio": 0.6, "size": size, **load})
    runs = [
        simulate(array, workload, engine=engine, n_requests=600, start="empty").run for engine in ("native", "simpy")
    ]
    ours, theirs = (run.completions for run in runs)
    assert np.array_equal(ours.done_ns, theirs.done_ns)
    assert np.array_equal(ours.parts_ns, theirs.parts_ns)
    assert np.array_equal(runs[0].devices.busy_ns, runs[1].devices.busy_ns)


def test_below_the_limits_nothing_waits() -> None:
    array, load = Array("aws-gp3, 16000 IOPS, 1000MiB/s"), Workload.parse({"size": "4 KiB", "rate_per_s": 14_000})
    took = simulate(array, load, n_requests=20_000).responses_ns()
    assert np.quantile(took, 0.5) == pytest.approx(440_000, rel=0.02)
    assert np.quantile(took, 0.95) == pytest.approx(720_000, rel=0.02)


def test_an_overload_is_seen_though_a_second_of_operations_is_in_hand() -> None:
    load = Workload.parse({"size": "4 KiB", "rate_per_s": 3100})
    assert not simulate(Array.from_words("aws-gp3"), load, n_requests=20_000).is_stable


def test_a_limit_of_the_instance_holds_for_all_volumes_together() -> None:
    words = "4x aws-gp3 raid0, 16000 IOPS, 1000MiB/s, r5b.2xlarge"
    result = simulate(Array(words), Workload.parse({"size": "4 KiB", "clients": 256}), n_requests=40_000)
    assert result.iops.mean == pytest.approx(43_333, rel=0.01)


@pytest.mark.parametrize(
    ("words", "iops", "bytes_per_s", "capacity"),
    [
        ("aws-gp3, 6000 IOPS, 500MB/s, 2TB", 6000, 5e8, 2 * 10**12),
        ("gp3, 4k IOPS", 4000, 125 * 2**20, 1000 << 30),
        ("aws-gp2-500GiB", 1500, 250 * 2**20, 500 << 30),
        ("azure-p30", 5000, 2e8, 1 << 40),
        ("gcp-pd-ssd, 1000GiB", 36_000, 720 * 2**20, 1000 << 30),
        ("aws-st1, 4TiB", None, 160 * 2**20, 4 << 40),
    ],
)
def test_words(words: str, iops: float | None, bytes_per_s: float, capacity: int) -> None:
    for found in (load_drive(words), Array.from_words(words).drive):
        assert found.ops_limit == iops or found.ops_limit.per_s == iops
        assert found.bytes_limit.per_s == pytest.approx(bytes_per_s)
        assert found.capacity_bytes == capacity


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("generic-15k, 500 GB", "as only volumes of a cloud do"),
        ("aws-gp3, 17000 IOPS", "above 16000, the most that such a volume has"),
        ("aws-gp3, fast", "has 'fast' beside"),
    ],
)
def test_what_cannot_be_provisioned_is_refused(words: str, said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        Array.from_words(words)
    with pytest.raises(DescriptionError, match=said):
        load_drive(words)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"read_p95": "0.4 ms"}, "below read_p50"),
        ({"write_p50": "1 ms"}, "must be given together"),
        ({"credits": 5}, "spent at burst_iops"),
        ({"op": "1000 B"}, "multiple of sector_bytes"),
    ],
)
def test_faults(fields: dict[str, object], said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        volume(**fields)


def test_credits_are_told_where_a_load_would_spend_them() -> None:
    drive = load_drive("aws-gp2, 200GiB")
    assert "3,000 IOPS for 38 minutes, then 600 IOPS" in drive.about_credits(np.inf, np.inf)
    assert drive.about_credits(500, 1e6) == ""


@pytest.mark.parametrize("words", ["on an r5b.2xlarge", "instance r5b.2xlarge", "instance 43333 IOPS and 1250 MB/s"])
def test_a_machine_in_words(words: str) -> None:
    machine = Array(f"4x aws-gp3 raid0, 16000 IOPS, {words}").controller
    assert (machine.most_iops, machine.link_bytes_per_s) == (43_333, 1.25e9)


def test_the_option_of_a_machine() -> None:
    asked = ("simulate", "4x aws-gp3 raid0, 16000 IOPS", "--queue-depth", 256, "--reads", "100%", "--block", "8k")
    found = answer(*asked, "--instance", "20,000IOPS,593.75MB/s", "--requests", 4000, "--only-run-noise")
    assert found["iops"] == pytest.approx(20_000, rel=0.01)
    assert "--instance='r6b.2xlarge': is not a controller" in refusal(*asked, "--instance", "r6b.2xlarge")
    both = refusal(*asked, "--instance", "r5b.2xlarge", "--controller", "perc-h730")
    assert "--instance='r5b.2xlarge': says what --controller says, too" in both


@pytest.mark.parametrize(("merges", "size", "counted"), [(True, 64, 1 / 4), (False, 64, 1), (True, 1024, 4)])
def test_u1_operations_are_counted_as_the_provider_does(*, merges: bool, size: int, counted: float) -> None:
    """Sixteen requests in order of 64 KiB are four operations where they are merged, and sixteen where they are not."""
    array = Array(volume(merges=merges), "jbod", 1)
    load = Workload.parse({"size": f"{size} KiB", "clients": 1, "addresses": "sequential"})
    found = simulate(array, load, n_requests=64, profile_draws=0)
    assert found.counted_per_io == pytest.approx(counted)
    said = [text for text in found.run.said if "operations of the provider" in text]
    assert bool(said) == (counted != 1)


def test_a_test_of_a_minute_does_not_see_the_first_second_alone() -> None:
    """A volume that was idle has a second of its burst in hand, in which a run of as many requests ends."""
    gp2 = Array.from_words("aws-gp2, 200GB, full credits")
    load = Workload.parse({"size": "4 KiB", "clients": 32})
    tested = gp2.model_copy(update={"drive": gp2.drive.in_a_test()})
    rates = [simulate(one, load, n_requests=2000, profile_draws=0).iops.mean for one in (gp2, tested)]
    assert rates[0] > 6000
    assert rates[1] == pytest.approx(3000, rel=0.02)
