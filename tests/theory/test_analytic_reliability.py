"""Mean times to data loss: chains against closed forms and against simulated lives of groups."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm

from diskmodel.analytic import reliability as rel
from diskmodel.array import Array
from diskmodel.errors import InputError
from diskmodel.plan.trial.statics import loss_beside

LIFE = {"mttf_hours": 1e6, "mttr_hours": 24.0, "disk_bytes": 4e12}


def test_chain_equals_the_closed_forms_without_read_errors() -> None:
    pair = rel.data_loss("raid1", 2, **LIFE, ure_per_bit=0.0)
    assert pair.mttdl_hours == pytest.approx(rel.mttdl_mirror_hours(1e6, 24), rel=1e-9)
    for n in (3, 8, 20):
        five = rel.data_loss("raid5", n, **LIFE, ure_per_bit=0.0)
        assert five.mttdl_hours == pytest.approx(rel.mttdl_single_parity_hours(n, 1e6, 24), rel=1e-9)
        approximate = rel.mttdl_single_parity_hours(n, 1e6, 24, is_exact=False)
        assert five.mttdl_hours == pytest.approx(approximate, rel=0.002)
        six = rel.data_loss("raid6", n + 1, **LIFE, ure_per_bit=0.0)
        assert six.mttdl_hours == pytest.approx(rel.mttdl_double_parity_hours(n + 1, 1e6, 24), rel=0.003)
    assert rel.data_loss("raid0", 10, **LIFE).mttdl_hours == pytest.approx(1e5)


def test_chain_against_simulated_lives() -> None:
    """Gillespie's algorithm, seed 11, 4000 lives; margin four standard errors of an exponential-like time."""
    rng = np.random.default_rng(11)
    n, mttf, mttr, bad, tolerance = 6, 1000.0, 50.0, 0.3, 2
    lives = []
    for _ in range(4000):
        failed, time = 0, 0.0
        while True:
            fail, repair = (n - failed) / mttf, (1 / mttr if failed else 0.0)
            time += rng.exponential(1 / (fail + repair))
            if rng.random() < fail / (fail + repair):
                failed += 1
                if failed > tolerance:
                    break
            else:
                if failed == tolerance and rng.random() < bad:
                    break
                failed -= 1
        lives.append(time)
    mean, loss = rel.absorption(rel.group_generator(n, tolerance, mttf, mttr, bad), 2000.0)
    sample = np.array(lives)
    assert abs(sample.mean() - mean) < 4 * sample.std() / math.sqrt(len(sample))
    share = (sample < 2000).mean()
    assert abs(share - loss) < 4 * math.sqrt(loss * (1 - loss) / len(sample))


def test_small_probabilities_keep_their_digits() -> None:
    six = rel.data_loss("raid6", 8, **LIFE, ure_per_bit=0.0)
    assert six.loss_per_year == pytest.approx(rel.HOURS_PER_YEAR / six.mttdl_hours, rel=0.01)
    assert 0 < six.loss_per_year < 1e-7


def test_groups_share_out_the_time() -> None:
    two = rel.data_loss("raid1", 2, **LIFE)
    ten = rel.data_loss("raid10", 20, **LIFE)
    assert ten.mttdl_hours == pytest.approx(two.mttdl_hours / 10)
    assert ten.loss_per_year == pytest.approx(1 - (1 - two.loss_per_year) ** 10)
    fifty = rel.data_loss("raid50", 16, n_groups=4, **LIFE)
    assert fifty.mttdl_hours == pytest.approx(rel.data_loss("raid5", 4, **LIFE).mttdl_hours / 4)


def test_order_of_the_levels() -> None:
    years = {
        level: rel.data_loss(level, 8, **LIFE, ure_per_bit=1e-14).mttdl_hours
        for level in ("raid0", "raid5", "raid10", "raid6")
    }
    assert years["raid0"] < years["raid5"] < years["raid10"] < years["raid6"]
    # between RAID 5 and RAID 10 on the number of disks whose loss is fatal
    ring = rel.data_loss("raid1e", 8, **LIFE, ure_per_bit=0.0).mttdl_hours
    assert rel.data_loss("raid5", 8, **LIFE, ure_per_bit=0.0).mttdl_hours < ring
    assert ring < rel.data_loss("raid10", 8, **LIFE, ure_per_bit=0.0).mttdl_hours
    coded = rel.data_loss("erasure", 8, n_parity=2, **LIFE)
    assert coded == rel.data_loss("raid6", 8, **LIFE)


def test_vdevs_are_groups() -> None:
    for pool, raid, n, groups in (
        ("mirror", "raid10", 12, 6),
        ("raidz1", "raid50", 12, 2),
        ("raidz2", "raid60", 12, 2),
        ("raidz2", "raid6", 8, 1),
    ):
        assert rel.data_loss(pool, n, **LIFE, n_groups=groups) == rel.data_loss(raid, n, **LIFE, n_groups=groups)
    thrice = rel.data_loss("mirror", 6, **LIFE, n_groups=2)
    assert thrice.mttdl_hours == pytest.approx(rel.data_loss("raid1", 3, **LIFE).mttdl_hours / 2)
    tough = rel.data_loss("raidz3", 12, **LIFE, n_groups=1)
    assert tough.loss_per_year < rel.data_loss("raidz2", 12, **LIFE, n_groups=1).loss_per_year


def test_read_errors() -> None:
    assert rel.read_error_probability(0, 1e-14) == 0
    assert rel.read_error_probability(1 / 8e-14, 1e-14) == pytest.approx(1 - math.exp(-1))
    # seven disks of 4 TB at 1e-14: the rebuild of an eighth fails nine times in ten
    five = rel.data_loss("raid5", 8, **LIFE, ure_per_bit=1e-14)
    assert five.read_error_share == pytest.approx(1 - math.exp(-8e-14 * 7 * 4e12), rel=1e-6)
    assert five.mttdl_hours < 0.01 * rel.data_loss("raid5", 8, **LIFE, ure_per_bit=0.0).mttdl_hours
    assert rel.mttf_hours_of(0.0087277) == pytest.approx(1e6, rel=1e-3)


def test_faults() -> None:
    with pytest.raises(InputError, match="multiple of the groups"):
        rel.data_loss("raid60", 9, n_groups=2, **LIFE)
    with pytest.raises(InputError, match="must exceed the failures"):
        rel.data_loss("raid6", 2, **LIFE)
    with pytest.raises(InputError, match="not a known RAID level"):
        rel.data_loss("raid7", 8, **LIFE)


def test_transition_probabilities_are_those_of_the_matrix_exponential() -> None:
    generator = rel.group_generator(6, 2, 1e4, 50.0, 0.1)
    for hours in (1.0, 100.0, 8766.0):
        assert rel.transition(generator, hours) == pytest.approx(expm(generator * hours), rel=1e-9, abs=1e-15)
        assert rel.transition(generator, hours).sum(axis=1) == pytest.approx(1, rel=1e-12)


def test_three_copies_are_groups_of_three() -> None:
    """RAID 10 with three copies is so many independent mirrors of three, and outlives one with two."""
    three = rel.data_loss("raid10", 9, **LIFE, n_copies=3)
    group = rel.data_loss("raid1", 3, **LIFE)
    assert three.mttdl_hours == pytest.approx(group.mttdl_hours / 3, rel=1e-9)
    assert three.loss_per_year < rel.data_loss("raid10", 10, **LIFE).loss_per_year / 100
    with pytest.raises(InputError, match="multiple of the groups"):
        rel.data_loss("raid10", 10, **LIFE, n_copies=3)


def test_the_copies_of_an_array_count_for_its_chance_of_loss() -> None:
    layout = {"level": "raid10", "disks": 18}
    two = Array.parse({"drive": "generic-7k2", "layout": layout})
    three = Array.parse({"drive": "generic-7k2", "layout": {**layout, "copies": 3}})
    assert loss_beside(three, 10.0, 24.0).loss_per_year < loss_beside(two, 10.0, 24.0).loss_per_year / 100


def test_rare_losses_have_a_mean_to_full_precision() -> None:
    """Against μ^(n-1) / (n! λ^n) (1 + …) of a mirror of n disks: leading terms, to a relative λ/μ of some 10⁻⁵."""
    for n in (2, 3, 5, 9):
        mean = rel.data_loss("raid1", n, **LIFE, ure_per_bit=0.0).mttdl_hours
        assert mean == pytest.approx(1e6 * (1e6 / 24) ** (n - 1) / math.factorial(n), rel=2e-3)


@pytest.mark.parametrize("hours", [0.1, 24.0, 2000.0, 87600.0])
def test_states_that_are_never_reached_change_no_digit(hours: float) -> None:
    """RAID 1E of many disks: its whole chain against the states that matter."""
    fatal = tuple(2 * k / (70 - k) for k in range(23))
    generator = rel.group_generator(70, 22, 1e6, hours, 1e-3, fatal)
    whole = rel.transition(generator, rel.HOURS_PER_YEAR)[0, -1]
    mean, loss = rel.absorption(generator, rel.HOURS_PER_YEAR)
    assert loss == pytest.approx(whole, rel=1e-12)
    # which are not made in the first place
    found = rel.data_loss("raid1e", 70, mttf_hours=1e6, mttr_hours=hours, disk_bytes=1e12, ure_per_bit=1.25e-16)
    shares = tuple(2 * k / (70 - k) for k in range(24))
    share = rel.read_error_probability(1e12, 1.25e-16)
    exact = rel.absorption(rel.group_generator(70, 24, 1e6, hours, share, (*shares, 1.0)), rel.HOURS_PER_YEAR)
    assert (found.mttdl_hours, found.loss_per_year) == pytest.approx(exact, rel=1e-12)
    assert mean > 0
