"""`diskmodel simulate`: keys, options, and every way of ending."""

from pathlib import Path

import pytest

from tests.unit.cli.commands import EXAMPLES, answer, refusal, run, write

ONE = ("simulate", EXAMPLES / "single-disk.toml", "--workload", EXAMPLES / "random-read.toml")
OVERLOAD = 'size = "8 KiB"\nread_ratio = 1.0\nrate = "400/s"\n'


def test_keys() -> None:
    found = answer(*ONE, "--requests", 2000)
    promised = {"engine", "wall_s", "requests", "iops", "stable", "latency_ms", "interval", "utilization_ratio"}
    assert promised | {"back_end_per_host", "breakdown_ms"} <= set(found)
    assert {"mean", "p50", "p95", "p99", "p999", "max"} <= set(found["latency_ms"])
    assert {"mean_low_ms", "mean_high_ms"} <= set(found["interval"])
    assert {"queue", "seek", "rotation", "transfer"} <= set(found["breakdown_ms"])
    assert found["requests"] == 2000
    assert found["stable"] is True
    assert sum(found["breakdown_ms"].values()) == pytest.approx(found["latency_ms"]["mean"], rel=1e-6)


def test_seed_decides_everything_but_the_clock() -> None:
    first, again, other = (answer(*ONE, "--requests", 1000, "--seed", seed) for seed in (7, 7, 8))
    for found in (first, again):
        del found["wall_s"], found["interval"]["wall_s"]
    assert first == again
    assert first["latency_ms"] != other["latency_ms"]


@pytest.mark.parametrize("engine", ["simpy", "native"])
def test_engine(engine: str) -> None:
    assert answer(*ONE, "--requests", 500, "--engine", engine)["engine"] == engine


def test_engines_agree() -> None:
    latencies = [answer(*ONE, "--requests", 500, "--engine", engine)["latency_ms"] for engine in ("simpy", "native")]
    assert latencies[0] == latencies[1]


def test_queue_depth_is_the_number_outstanding() -> None:
    for depth in (1, 9):
        found = answer(*ONE, "--requests", 1500, "--queue-depth", depth)
        assert found["iops"] * found["latency_ms"]["mean"] / 1000 == pytest.approx(depth, rel=0.01)


def test_drive_is_replaced() -> None:
    slow, fast = (answer(*ONE, "--requests", 1000, "--drive", name) for name in ("generic-5k4", "generic-15k"))
    assert slow["latency_ms"]["mean"] > 1.5 * fast["latency_ms"]["mean"]


def test_table_for_people() -> None:
    text = run(*ONE, "--requests", 1000).stdout
    assert "Seagate Exos X24" in text
    assert "latency, p99" in text


def test_overload_exits_with_3(tmp_path: Path) -> None:
    workload = write(tmp_path / "w.toml", OVERLOAD)
    found = answer(*ONE[:2], "--workload", workload, "--requests", 6000, status=3)
    assert found["stable"] is False
    assert found["latency_ms"]["mean"] is None
    assert "overloaded" in run(*ONE[:2], "--workload", workload, "--requests", 6000).stderr


def test_an_interval_that_cannot_be_reached_exits_with_3() -> None:
    words = (*ONE, "--engine", "simpy", "--precision", 0.000001, "--queue-depth", 1)
    import diskmodel.engine.one_run as module

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(module.MAX_REQUESTS, "simpy", 2000)
        assert answer(*words, status=3)["converged"] is False


def test_a_histogram_answers_like_all_completions() -> None:
    whole, folded = (answer(*ONE, "--requests", 4000, "--keep", keep) for keep in ("all", "histogram"))
    assert set(folded) == set(whole)
    assert folded["requests"] == whole["requests"] == 4000
    assert folded["simulated_s"] == whole["simulated_s"]
    assert folded["latency_ms"] != whole["latency_ms"]
    # the ends of the warm-up differ by up to a fiftieth of the run
    assert folded["latency_ms"]["p95"] == pytest.approx(whole["latency_ms"]["p95"], rel=0.03)


def test_a_recorded_load_is_taken_at_the_percentile_asked_for() -> None:
    words = (*ONE[:2], "--workload", EXAMPLES / "measured" / "iostat.txt", "--drive", "intel-x25-m-g2-160")
    low, high = (answer(*words, "--requests", 1000, "--percentile", level)["offered_iops"] for level in (10, 99))
    assert low < high
    assert "device='sdz': is not in the file" in refusal(*words, "--device", "sdz")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("simulate", "nowhere.toml", "-w", EXAMPLES / "oltp.toml"), "nowhere.toml"),
        ((*ONE, "--engine", "steam"), "engine='steam': is not an engine; use auto, native or simpy"),
        ((*ONE, "--drive", "generic-15"), "did you mean generic-15k"),
        ((*ONE, "--queue-depth", 0), "queue_depth=0"),
        ((*ONE, "--requests", 0), "n_requests=0"),
        (ONE[:2], "--workload"),
        ((*ONE, "--keep", "some"), "keep='some': is not known; use all or histogram"),
        ((*ONE, "--keep", "histogram", "--engine", "simpy"), "keep='histogram': needs the kernel"),
        ((*ONE, "--percentile", 50), "percentile='50': only applies to a recorded load"),
        ((*ONE, "--device", "sda"), "device='sda': only applies to a recorded load"),
        (("simulate", EXAMPLES / "oltp.toml", "-w", EXAMPLES / "oltp.toml"), "describes a workload, not an array"),
        (("simulate", EXAMPLES / "plan-oltp.toml", "-w", EXAMPLES / "oltp.toml"), "describes a plan, not an array"),
        ((*ONE[:2], "-w", EXAMPLES / "raid5.toml"), "describes an array, not a workload"),
        ((*ONE, "--drive", EXAMPLES / "raid5.toml"), "describes an array, not a drive"),
        ((*ONE, "--drive", EXAMPLES), "is a directory"),
    ],
)
def test_bad_input(words: tuple[object, ...], message: str) -> None:
    assert message in refusal(*words)


def test_every_fault_of_a_file_is_reported(tmp_path: Path) -> None:
    array = write(tmp_path / "a.toml", 'drive = "generic-15k"\nnmae = "x"\n[layout]\nlevel = "raid7"\ndisks = 0\n')
    output = refusal("simulate", array, "-w", EXAMPLES / "oltp.toml")
    assert str(array) in output
    for field in ("nmae", "layout.level='raid7'", "layout.disks=0"):
        assert field in output


def test_depth_of_an_open_workload_is_refused(tmp_path: Path) -> None:
    workload = write(tmp_path / "w.toml", OVERLOAD)
    assert "no closed stream" in refusal(*ONE[:2], "--workload", workload, "--queue-depth", 4)


def _trace(folder: Path, n: int = 400) -> Path:
    """Reads of 4 KiB, one each 20 ms, in places a gigabyte apart that come in no order."""
    places = [i * 977 % n * 1_000_000_512 // 512 * 512 for i in range(n)]
    rows = [f"{i * 20_000_000},read,{place},4096,0,sda" for i, place in enumerate(places)]
    return write(folder / "trace.csv", "time_ns,op,offset_bytes,length_bytes,response_ns,device\n" + "\n".join(rows))


def test_replay_of_a_trace(tmp_path: Path) -> None:
    single = ("simulate", EXAMPLES / "single-disk.toml", "--workload", _trace(tmp_path), "--replay")
    original, twice, closed = (answer(*single, *words) for words in (["original"], ["2x"], ["closed"]))
    assert original["requests"] == twice["requests"] == closed["requests"] == 400
    assert original["iops"] == pytest.approx(50, rel=0.01)
    assert twice["iops"] == pytest.approx(100, rel=0.01)
    deep = answer(*single, "closed", "--queue-depth", 8)
    assert deep["iops"] > 1.2 * closed["iops"]
    assert answer(*single, "original", "--requests", 100)["requests"] == 100


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("--replay", "backwards"), "replay='backwards'"),
        (("--replay", "original", "--queue-depth", 4), "queue_depth=4"),
        (("--replay", "original", "--percentile", 95), "percentile='95'"),
        (("--wrap",), "wrap=True"),
    ],
)
def test_replay_refuses_what_it_has_no_use_for(tmp_path: Path, words: tuple[object, ...], field: str) -> None:
    output = refusal("simulate", EXAMPLES / "single-disk.toml", "--workload", _trace(tmp_path), *words)
    assert field in output


def test_a_replay_beyond_the_array_is_refused_or_wrapped(tmp_path: Path) -> None:
    single = ("simulate", EXAMPLES / "single-disk.toml", "--workload", _trace(tmp_path, 30_000), "--replay", "original")
    assert "beyond the array's capacity" in refusal(*single)
    assert answer(*single, "--wrap")["requests"] == 30_000


def test_iostat_beside_our_own_terms() -> None:
    output = run(*ONE, "--requests", 500, "--iostat").stdout
    assert "iostat -x" in output
    for column in ("r/s", "rkB/s", "rareq-sz", "aqu-sz", "r_await", "%util"):
        assert column in output
    row = answer(*ONE, "--requests", 500)["iostat"][0]
    assert row["r_await"] == pytest.approx(row["await"])
