"""A workload fitted to a public trace has the latency of its replay, also for seeds that the fit did not draw."""

from __future__ import annotations

import pytest

from diskmodel.synthesis import settings, simulated, synthesize
from tests.validation.synthesis import stories
from tests.validation.synthesis.traces import paths, read, title

pytestmark = [
    pytest.mark.slow,
    pytest.mark.evidence,
    pytest.mark.skipif(not paths(), reason="DISKMODEL_EVIDENCE names no folder of traces"),
]


@pytest.mark.parametrize("name", ["wsrch-small", pytest.param("ssd-postmark-aligned2", marks=pytest.mark.long)])
def test_latency_of_a_fitted_workload(name: str) -> None:
    (path,) = (path for path in paths() if title(path) == name)
    trace = read(path)
    workload = synthesize(trace).workload
    excerpts = workload.streams[0].excerpts
    assert excerpts is not None
    # the lengths that are tried double: half of the trace, or less
    assert excerpts.n_requests < 0.55 * len(trace)
    for setting in settings(trace):
        found = simulated(workload, setting.array, setting.speed_up, len(trace), first_seed=11)
        assert found.mean_ns == pytest.approx(setting.trace.mean_ns, rel=0.12), setting.title
        assert found.p99_ns == pytest.approx(setting.trace.p99_ns, rel=0.2), setting.title


@pytest.mark.evidence
@pytest.mark.slow
@pytest.mark.parametrize("begin", stories.STORIES)
def test_the_page_of_traces_and_plans_has_these_stories(evidence, begin):
    (path,) = (evidence / "real-files" / "trace").glob(f"{begin}*")
    written = stories.section(stories.story_of(path, stories.STORIES[begin]))
    assert "\n".join(written).strip() in stories.PAGE.read_text(encoding="utf-8")
