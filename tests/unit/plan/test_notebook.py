"""Plans and comparisons in a notebook: everything that the terminal says, and plots, as well-formed HTML."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from diskmodel import Array, Comparison, PlanDescription, PlanResult, Workload, compare, run_plan
from diskmodel.plan.show.plot import trials_svg

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


def plan(**objective: object) -> PlanResult:
    question = {
        "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "200/s"},
        "objective": {"iops": 200, **objective},
        "candidates": {"drives": ["generic-15k"], "levels": ["raid10", "raid5"], "max_disks": 12},
        "search": {"requests": 4000, "max_requests": 64_000},
    }
    return run_plan(PlanDescription.parse(question))


def tree(shown: PlanResult | Comparison) -> ElementTree.Element:
    return ElementTree.fromstring(f"<div>{shown._repr_html_()}</div>")


def test_the_answer_of_a_plan_stands_out() -> None:
    result = plan(latency={"p99": "60 ms"})
    root = tree(result)
    bold = [element.text for element in root.iter("strong")]
    assert result.best is not None
    assert str(result.best.disks) in bold
    assert result.best.family.level in bold
    assert "RAID" in str(bold[0])
    rows = root.findall(".//tbody/tr")
    assert len(rows) == len(result.candidates)
    assert len(root.findall(f".//{SVG}svg")) == 1 + len(trials_svg(result))


def test_infeasible_plan_says_so_for_every_candidate() -> None:
    result = plan(capacity="50 TB")
    root = tree(result)
    assert "No feasible array" in str(next(root.iter("strong")).text)
    assert [cell.text for cell in root.iter("td")].count("not feasible") == 2


def test_comparison_has_a_column_for_each_array_and_names_are_escaped() -> None:
    layouts = ({"level": "raid5", "disks": 4}, {"level": "raid10", "disks": 4})
    arrays = [
        Array.parse({"name": f"<{layout['level']}> & co", "drive": "generic-15k", "layout": layout})
        for layout in layouts
    ]
    compared = compare(arrays, Workload.parse({"size": "8 KiB", "rate": "100/s"}), n_requests=2000)
    root = tree(compared)
    assert [cell.text for cell in root.iter("th")] == [None, "<raid5> & co", "<raid10> & co"]
    assert "p99 ms, in one of ten" in [cell.text for cell in root.iter("td")]
    assert len(root.findall(f".//{SVG}svg")) == 1
    assert any("rule of thumb" in str(item.text) for item in root.iter("li"))
