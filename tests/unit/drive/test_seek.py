"""Seek curves: from data-sheet times, as a curve, as a table."""

from pathlib import Path

import numpy as np
import pytest

from diskmodel.drive import SeekCurve, SeekTable, SeekTimes, read_seek_file
from diskmodel.drive.seek_fit import pair_weights, power_sum, root_then_line
from diskmodel.errors import DescriptionError, FormatError

MS = 1_000_000


def mean_over_pairs(curve: np.ndarray) -> float:
    """Mean seek over all ordered pairs of different cylinders, one pair at a time."""
    n = len(curve)
    pairs = [curve[abs(a - b)] for a in range(n) for b in range(n) if a != b]
    return float(np.mean(pairs))


@pytest.mark.parametrize(
    ("track", "average", "full"),
    [(0.2, 3.5, 6.7), (2.0, 8.9, 21.0), (0.8, 8.5, 14.7), (1.0, 12.0, 20.0), (2.5, 10.0, 24.0)],
    ids=["root-and-line", "nearly-straight", "power", "flatter-power", "line"],
)
def test_three_times_are_met_exactly_by_brute_force(track: float, average: float, full: float) -> None:
    seek = SeekTimes(track_to_track_ns=track * MS, average_ns=average * MS, full_stroke_ns=full * MS)
    curve = seek.curve_ns(300)
    assert curve[0] == 0
    assert curve[1] == track * MS
    assert curve[-1] == full * MS
    assert mean_over_pairs(curve) == pytest.approx(average * MS, rel=1e-6)
    assert (np.diff(curve) > 0).all()


def test_slope_is_continuous_at_the_joint() -> None:
    curve = root_then_line(10_000, 0.5e6, 8e6, 18e6)
    slope = np.diff(curve)[1:]
    assert (np.diff(slope) <= 1e-6).all(), "concave: the slope never grows"
    straight = np.isclose(slope, slope[-1], rtol=1e-9)
    assert straight.sum() > 1000
    first = int(np.argmax(straight))
    assert slope[first - 1] == pytest.approx(slope[first], rel=1e-3)


def test_pair_weights_are_the_makers_definition() -> None:
    weights = pair_weights(4)
    assert weights == pytest.approx([0, 8 / 20, 6 / 20, 4 / 20, 2 / 20])
    # mean distance over pairs of different cylinders: (N + 1) / 3
    assert weights @ np.arange(5) == pytest.approx(2.0)


@pytest.mark.parametrize("n", [3, 32, 33, 1_000, 300_000])
@pytest.mark.parametrize("exponent", [0.0, 0.1, 0.5, 1.0, 1.3, 2.0])
def test_sums_of_powers_are_those_of_all_terms(n: int, exponent: float) -> None:
    terms = np.arange(1, n + 1, dtype=np.longdouble) ** np.longdouble(exponent)
    assert power_sum(n, exponent) == pytest.approx(float(terms.sum()), rel=1e-13)


@pytest.mark.parametrize("average", [5.0, 19.5])
def test_inconsistent_times_say_what_would_fit(average: float) -> None:
    seek = SeekTimes(track_to_track_ns=1 * MS, average_ns=average * MS, full_stroke_ns=20 * MS)
    with pytest.raises(ValueError, match=r"use an average from 7\.\d+ to \d+\.\d+ ms"):
        seek.curve_ns(1000)


def test_times_out_of_order_are_refused() -> None:
    with pytest.raises(DescriptionError, match="track_to_track < average < full_stroke"):
        SeekTimes.parse({"track_to_track": "9 ms", "average": "8 ms", "full_stroke": "20 ms"})


def test_writes_have_times_of_their_own() -> None:
    """Those of the Travelstar 5K320's specification, 4.4.2; full strokes of writes take 21 ms there."""
    sheet = {"track_to_track": "1 ms", "track_to_track_write": "1.1 ms", "average": "12 ms", "average_write": "13 ms"}
    writes = SeekTimes.parse(sheet | {"full_stroke": "20 ms"}).of_writes()
    assert writes is not None
    assert (*writes.resolved(), writes.average_ns) == (1.1 * MS, 21 * MS, 13 * MS)
    usual = SeekTimes.parse({"track_to_track": "0.7 ms", "average": "8 ms"}).of_writes()
    assert usual is not None
    assert (usual.resolved()[0], usual.average_ns) == (0.9 * MS, 8.96 * MS)
    assert SeekTimes.parse({"average": "8 ms", "average_write": "8 ms"}).of_writes() is None
    with pytest.raises(DescriptionError, match=r"0\.1 to 0\.2 ms more than track_to_track is usual"):
        SeekTimes.parse(sheet | {"track_to_track_write": "2.1 ms"})
    with pytest.raises(DescriptionError, match="must not be shorter than average"):
        SeekTimes.parse({"average": "8.5 ms", "average_write": "7.5 ms"})


@pytest.mark.parametrize("settle", [{}, {"settle": "1.5 ms"}])
def test_writes_of_steep_seeks_have_a_curve(settle: dict[str, str]) -> None:
    """A fit may try short seeks that take nearly as long as average ones."""
    steep = SeekTimes.parse({"track_to_track": "1.4 ms", "average": "1.8 ms", "full_stroke": "1.95 ms"} | settle)
    reads, writes = steep.curve_ns(20_000), steep.of_writes()
    assert writes is not None
    assert np.all(writes.curve_ns(20_000)[1:] >= reads[1:])
    assert np.mean(writes.curve_ns(1_000)) > np.mean(steep.curve_ns(20_000))


def test_times_left_out_are_assumed_in_proportion() -> None:
    track, full = SeekTimes.parse({"average": "8 ms"}).resolved()
    assert track == round(0.09 * 8 * MS)
    assert full == 2 * 8 * MS - track


def test_curve_in_two_parts() -> None:
    curve = SeekCurve.parse(
        {
            "kind": "curve",
            "a": "250 us",
            "b_ns_per_root": "25.79 us",
            "c": "2150 us",
            "e_ns_per_cylinder": 83.9,
            "joint_cylinders": 15000,
        }
    ).curve_ns(91560)
    assert curve[0] == 0
    assert curve[1] == 275_790
    assert curve[14_999] == round(250_000 + 25_790 * 14_999**0.5)
    assert curve[15_000] == 2_150_000 + 83.9 * 15_000
    assert curve[91_559] == round(2_150_000 + 83.9 * 91_559)


def test_curve_derives_c_and_refuses_a_step() -> None:
    parts = {
        "kind": "curve",
        "a": "1 ms",
        "b_ns_per_root": 100_000,
        "e_ns_per_cylinder": 500,
        "joint_cylinders": 10_000,
    }
    curve = SeekCurve.parse(parts).curve_ns(20_000)
    assert curve[10_000] == 11 * MS
    assert curve[12_000] == 12 * MS
    with pytest.raises(DescriptionError, match="differ by 1e\\+03 us there; leave c out, or set c to 6000000 ns"):
        SeekCurve.parse(parts | {"c": "7 ms"})


def test_table_keeps_measured_points_and_interpolates() -> None:
    table = SeekTable(kind="table", distance=(2, 10, 20, 40), time_ms=(1.5, 1.0, 2.0, 4.0))
    curve = table.curve_ns(61)
    assert list(curve[[0, 1, 2, 6, 10, 15, 40]]) == [0, 1.5 * MS, 1.5 * MS, 1.25 * MS, 1 * MS, 1.5 * MS, 4 * MS]
    assert curve[60] == 6 * MS, "beyond the table the line from its middle (10, 1 ms) to its end (40, 4 ms) goes on"


@pytest.mark.parametrize(
    ("distance", "times", "rule"),
    [((1, 2, 2), (1.0, 2.0, 3.0), "must increase"), ((1, 2, 3), (1.0, 2.0), "write one time for each distance")],
)
def test_broken_tables(distance: tuple[int, ...], times: tuple[float, ...], rule: str) -> None:
    with pytest.raises(DescriptionError, match=rule):
        SeekTable.parse({"kind": "table", "distance": list(distance), "time_ms": list(times)})


def test_seek_file_with_heading(tmp_path: Path) -> None:
    path = tmp_path / "some.seek"
    path.write_text("Seek distances measured: 3\n1,\t1.245\n2,      1.157\n\n100,\t5.5\n")
    table = read_seek_file(path)
    assert table.distance == (1, 2, 100)
    assert table.time_ms == (1.245, 1.157, 5.5)


def test_seek_file_names_the_bad_lines(tmp_path: Path) -> None:
    path = tmp_path / "bad.seek"
    path.write_text("heading\n1, 1.0\n2; x\n3\n")
    with pytest.raises(FormatError) as caught:
        read_seek_file(path)
    assert [fault.field for fault in caught.value.faults] == ["line 3", "line 4"]
    with pytest.raises(FormatError, match="cannot be read"):
        read_seek_file(tmp_path / "none.seek")


def test_seeks_over_more_than_a_cylinder_begin_with_settling() -> None:
    times = {"track_to_track_ns": 1 * MS, "average_ns": 8 * MS, "full_stroke_ns": 18 * MS}
    plain, settling = SeekTimes(**times).curve_ns(10_000), SeekTimes(**times, settle_ns=2 * MS).curve_ns(10_000)
    assert (settling[1], settling[-1]) == (1 * MS, 18 * MS)
    assert settling[2] > 2 * MS > plain[2]
    weights = pair_weights(9_999)
    assert (weights * settling).sum() == pytest.approx((weights * plain).sum(), rel=1e-4)
    with pytest.raises(DescriptionError, match="about 18% of the average is usual"):
        SeekTimes.parse({"track_to_track": "1 ms", "average": "8 ms", "full_stroke": "18 ms", "settle": "9 ms"})
