"""Whatever the controls can be set to is answered, by figures that are JSON."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskmodel.lab.curves import answer, ask, point
from diskmodel.lab.offers import offers
from diskmodel.lab.settings import Settings

OFFERS = offers()


def one_of(name: str) -> st.SearchStrategy[object]:
    return st.sampled_from([one["value"] if isinstance(one, dict) else one for one in OFFERS[name]])


@st.composite
def controls(draw: st.DrawFn) -> dict[str, object]:
    level = draw(st.sampled_from(OFFERS["levels"]))
    return {
        "level": level["value"],
        "disks": draw(st.sampled_from(level["disks"])),
        "has_failed_disk": level["survives"] and draw(st.booleans()),
        "drive": draw(one_of("drives")),
        "scheduler": draw(one_of("schedulers")),
        "pattern": draw(one_of("patterns")),
        "strip_bytes": draw(one_of("strip_bytes")),
        "size_bytes": draw(st.sampled_from([512, 4096, 8192, 65536, 1 << 20])),
        "read_ratio": draw(st.sampled_from([0.0, 0.05, 0.5, 0.95, 1.0])),
        "span_ratio": draw(st.sampled_from([0.01, 0.5, 1.0])),
        "arrivals": draw(st.sampled_from(["outstanding", "rate"])),
        "outstanding": draw(one_of("outstanding")),
        "rate_per_s": draw(st.sampled_from([10, 100, 1000, 10_000, 100_000])),
        "read_hit_ratio": draw(st.sampled_from([0.0, 0.5, 0.95])),
        "write_cache_bytes": draw(one_of("write_cache_bytes")),
        "drive_write_cache": draw(st.sampled_from(["sold", "on", "off"])),
    }


@pytest.mark.slow
@pytest.mark.long
@settings(max_examples=25, deadline=None, derandomize=True)
@given(controls())
def test_is_answered(chosen: dict[str, object]) -> None:
    expected = Settings.parse(chosen)
    question = ask(expected, "quick", effort=0.1)
    points = [point(question, load) for load in question.loads]
    curve = answer(question, points)
    assert json.loads(json.dumps(curve, allow_nan=False)) == curve
    assert expected.chosen_load in question.loads
    for one in points:
        value, low, high = one["iops"]
        assert value > 0
        assert low is None or low <= value <= high
        assert one["stable"] or one["p99_ms"] == [None, None, None]
        assert 0 <= one["utilization_ratio"] <= 1.0 + 1e-9
    assert math.isfinite(curve["calculator"]["back_end_per_host"])
