"""Numbers as people write them: what is taken, and what is refused because it may mean something else."""

import pytest

from diskmodel.errors import DescriptionError
from diskmodel.units import _BYTES, _LENGTH, _PER_SECOND, _RATE, nominal_bytes, parse
from diskmodel.workload.arrivals.bursts import Bursts


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        ("1,500 TB", 1500 * 10**12),
        ("1_000 GB", 10**12),
        ("1,000,000.5 kB", 1_000_000_500),
        (".5 TB", 5 * 10**11),
        ("1e3 GB", 10**12),
        ("0", 0),
    ],
)
def test_groups_of_three_digits(text, n_bytes):
    assert parse(text, _BYTES) == n_bytes


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("1,5 TB", "1.5 TB"),
        ("12,34 GB", "12.34 GB"),
        ("1.000,5 GB", "1000.5 GB"),
        ("1.000.000 kB", "1000000 kB"),
        ("10,0000 kB", "10.0000 kB"),
        ("1,,000 kB", "1000 kB"),
        ("1_5 TB", "1.5 TB"),
    ],
)
def test_other_separators_are_refused(text, meant):
    with pytest.raises(ValueError, match=f"write '{meant}'"):
        parse(text, _BYTES)


@pytest.mark.parametrize(
    ("text", "units", "value"),
    [
        ("10tb", _BYTES, 10 * 10**12),
        ("64kib", _BYTES, 64 << 10),
        ("64KIB", _BYTES, 64 << 10),
        ("1 Gib", _BYTES, 1 << 30),
        ("8kb", _LENGTH, 8 << 10),
        ("1mb", _LENGTH, 1 << 20),
        ("8kB", _LENGTH, 8_000),
        ("8KB", _LENGTH, 8_000),
        ("100 mib/S", _RATE, 100 << 20),
        ("10Gbps", _RATE, 1.25e9),
        ("300 MBps", _RATE, 300e6),
        ("2k", _PER_SECOND, 2000),
        ("2.5k/s", _PER_SECOND, 2500),
    ],
)
def test_upper_and_lower_case_are_alike_where_one_meaning_is_left(text, units, value):
    assert parse(text, units) == value


@pytest.mark.parametrize(
    ("text", "units", "choices"),
    [("5 mb/s", _RATE, '"5 Mb/s" or "5 MB/s"'), ("10T", _BYTES, '"10 TB" or "10 TiB"'), ("10t", _BYTES, '"10 TB"')],
)
def test_what_may_mean_two_things_is_refused_with_both(text, units, choices):
    with pytest.raises(ValueError, match="has the unknown unit") as caught:
        parse(text, units)
    assert choices in str(caught.value)


@pytest.mark.parametrize("text", ["\u0663\u0660\u0660 GB", "GB", "1 5 GB"])
def test_what_is_no_number(text):
    with pytest.raises(ValueError, match=r"unit|number|write '300 GB'"):
        parse(text, _BYTES)


def test_nothing_needs_no_unit():
    found = Bursts.parse({"kind": "bursts", "on_rate": "500/s", "off_rate": 0, "mean_on": "1 s", "mean_off": "4 s"})
    assert found.off_rate_per_s == 0
    with pytest.raises(DescriptionError, match="has no unit"):
        Bursts.parse({"kind": "bursts", "on_rate": "500/s", "off_rate": 5, "mean_on": "1 s", "mean_off": "4 s"})


def test_a_rate_beyond_the_clock_is_refused():
    with pytest.raises(DescriptionError, match="at most 1e"):
        Bursts.parse({"kind": "bursts", "on_rate": "1e15/s", "off_rate": 0, "mean_on": "1 s", "mean_off": "4 s"})


def test_almost_a_terabyte_is_one() -> None:
    assert (nominal_bytes(999_400_000_000), nominal_bytes(999_900_000_000)) == ("999 GB", "1 TB")
