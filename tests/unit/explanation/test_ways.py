"""What is as likely as what is expected: requests that are not cut, other angles and places; what is hardly found."""

import math

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.hypotheses import Variant, hypothesis_of, simulated
from diskmodel.explanation.measured import Figure, Measured, like_figures
from diskmodel.explanation.simulator import Simulator
from diskmodel.workload import Workload

IN_ORDER = {"size": "1 MiB", "clients": 1, "addresses": "sequential"}
QUEUED = {"size": "4 KiB", "clients": 16}


def _simulator(words: str, *loads: dict[str, object], n_draws: int = 4) -> Simulator:
    figures = {"iops": 100.0, "reads.mean": 1e7, "reads.p50": 9e6, "reads.p95": 2e7, "reads.p99": 4e7}
    measured = [Measured("load", Workload.parse(own), figures, {"reads": 1e4}) for own in loads]
    return Simulator(Array.from_words(words), measured, n_draws=n_draws)


def _of(found: Simulator, key: str) -> tuple[float, float]:
    """Return offset and deviation of a figure by what is not known."""
    at = [one.key for one in found.figures].index(key)
    return float(found.offset[at]), math.sqrt(found.shared[at, at])


def test_whether_long_requests_are_cut_is_not_known_unless_somebody_says_it() -> None:
    """Disks lose turns over what an adapter is assumed to take: the rate without it is more than twice as high."""
    assumed = _simulator("6x wd-red-plus-8 raid10", IN_ORDER)
    offset, deviation = _of(assumed, "iops")
    assert offset > 0.3
    assert deviation > 0.4
    array = Array.from_words("6x wd-red-plus-8 raid10")
    layout = type(array.layout).parse(dict(array.layout) | {"largest_request_bytes": 1 << 20})
    said = Simulator(array.model_copy(update={"layout": layout}), assumed.measured, n_draws=4)
    assert said.runs[0]["iops"] > 2 * assumed.runs[0]["iops"]
    assert abs(_of(said, "iops")[0]) < 0.1
    assert _of(said, "iops")[1] < 0.1


@pytest.mark.parametrize("words", ["6x wd-red-plus-8 raid6", "4x samsung-pm893-960 raid10", "4x generic-10k raid0"])
def test_requests_that_are_not_cut_have_one_way(words: str) -> None:
    assert len(_simulator(words, IN_ORDER)._ways(0)) == 1


def test_which_requests_in_order_meet_a_pass_is_hardly_known() -> None:
    found = _simulator("2x seagate-exos-x18 raid1", {**IN_ORDER, "size": "128 KiB"})
    variant = Variant(CAUSES["rebuild-running"], "", (20.0, True), 1.0)
    made = hypothesis_of(found, (variant,), simulated(found, [((variant,), 0)], "causes"))
    assert made is not None
    errors = {one.key: math.sqrt(error) for one, error in zip(found.figures, made.error, strict=True)}
    assert errors["reads.p99"] > 1.1
    assert errors["iops"] < 0.8


def test_drives_that_are_never_flushed_hardly_ever_take_long_for_it() -> None:
    for name in ("flushes", "journal-commits"):
        cause = CAUSES[name]
        shares = {
            words: {said: share for said, _, share in cause.on(Array.from_words(words)).variants([])}
            for words in ("intel-dc-p4510-1tb", "samsung-870-evo-1tb")
        }
        for own in shares.values():
            assert sum(own.values()) == pytest.approx(1.0)
        slow = [said for said in shares["samsung-870-evo-1tb"] if "whose flush takes" in said]
        assert slow
        for said in slow:
            assert shares["intel-dc-p4510-1tb"][said] < 0.6 * shares["samsung-870-evo-1tb"][said]


def test_a_run_is_moved_to_the_figures_of_a_vector() -> None:
    found = _simulator("generic-7k2", QUEUED)
    row = np.log([50.0, 2e7, 1.0, 2.0, 4.0])
    moved = like_figures(found.runs[0], found.figures, 0, row)
    assert moved["iops"] == pytest.approx(50.0)
    assert moved["reads.mean"] == pytest.approx(2e7)
    assert moved["reads.p99"] == pytest.approx(8e7)


def test_a_cause_has_the_figures_of_the_angles_at_which_they_were_measured() -> None:
    """Readers in order of a RAID 6 without a disk get one of a few rates, by the angles: what lies between is none."""
    in_order, deep = Workload.parse({**IN_ORDER, "clients": 4}), Workload.parse({"size": "8 KiB", "clients": 32})
    variant = Variant(CAUSES["member-failed"], "", 1, 1.0)
    made, shares = [], []
    for rate in (735.0, 1_543.0):
        loads = [
            Measured("deep", deep, {"iops": 491.0, "reads.mean": 32e9 / 491}, {"reads": 1e4}),
            Measured("in order", in_order, {"iops": rate, "reads.mean": 4e9 / rate}, {"reads": 1e4}),
        ]
        found = Simulator(Array.from_words("8x seagate-exos-x18 raid6"), loads, n_draws=2)
        assert not found.expected[1].others  # without the cause they are in one state
        own = hypothesis_of(found, (variant,), simulated(found, [((variant,), at) for at in (0, 1)], "causes"))
        assert own is not None
        places = [at for at, one in enumerate(found.figures) if one == Figure(1, "", "iops")]
        made.append(math.exp(own.figures[places[0]]))
        shares.append(own.share)
    assert made == pytest.approx([735.0, 1_543.0], rel=0.01)
    assert min(shares) > 0.2
    assert 0.7 < sum(shares) < 1.05


def test_an_array_with_several_states_may_be_in_each_of_them() -> None:
    """Small writes in order miss a revolution at some angles, and nothing is wrong."""
    load = {"size": "64 KiB", "clients": 2, "addresses": "sequential", "read_ratio": 0.0}
    found = _simulator("4x seagate-exos-x18 raid6", load, n_draws=9)
    rates = [found.runs[0]["iops"], *(one["iops"] for one in found.expected[0].others)]
    assert max(rates) > 2 * min(rates)
    assert len(found._ways(0)) == len(rates)
    drawn = [own[0]["iops"] for own in found._drawn]
    assert max(drawn) > 2 * min(drawn)


def test_a_file_of_raid_z_may_not_be_the_first_one_of_its_pool() -> None:
    """Records of 8 KiB fill whole rows of four disks: the first stretch of a pool begins on another disk (X3)."""
    load = {"size": "8 KiB", "clients": 8, "span": "128 MiB"}
    words = "4x generic-10k raidz1, record 8KiB"
    found = _simulator(words, load)
    ways = found._ways(0)
    assert [bool(way) for way in ways] == [False, True, False, True]
    assert all(0.6 < way["iops"] < 0.95 for way in ways if way)
    first = _simulator(words, {"streams": [{"size": "8 KiB", "clients": 8, "span": "128 MiB", "offset": "1 GiB"}]})
    for other in (
        first,  # its place is given
        _simulator(words, {"size": "8 KiB", "clients": 8}),  # it fills the pool
        _simulator("8x generic-10k raidz2, record 8KiB", load),  # its records begin on all disks
        _simulator("2x generic-10k mirror", load),
    ):
        assert other._ways(0) == [{}]
