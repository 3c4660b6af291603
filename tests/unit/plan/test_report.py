"""Reports: self-contained, complete, the same every time, safe against names with markup."""

from __future__ import annotations

import csv
import io
import re
import tomllib
import warnings
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from diskmodel.drawing import svg_of
from diskmodel.drive import load_drive
from diskmodel.errors import DescriptionError, OutputError
from diskmodel.plan import PlanDescription, heat_of_best, latency_curves, run_plan
from diskmodel.plan.question.short_toml import short_toml
from diskmodel.plan.show import plot
from diskmodel.plan.show.notebook import plan_html
from diskmodel.plan.show.plot import CURVE, trials_svg
from diskmodel.plan.show.report import as_csv, csv_cell, html, markdown, write_report
from diskmodel.plan.show.words import question_words, waterfall_title
from diskmodel.version import __version__
from tests.unit.plan.fakes import Queues, plan_of

pytestmark = pytest.mark.slow

GROWING = {"iops": 600, "latency": {"p99": "40 ms"}, "growth": "20%", "years": 3}
FEASIBLE = run_plan(plan_of(name="mail", objective=GROWING), evaluate=Queues(noise=0.01), with_sensitivity=True)
NOT = run_plan(plan_of(name="mail", objective={"latency": {"p99": "5 ms"}}), evaluate=Queues())


class Outline(HTMLParser):
    """Tags that are open at the end, references to the outside, and texts by tag."""

    VOID = frozenset({"meta", "link", "br", "img", "input", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.outside += [v for k, v in attrs if k in ("src", "href", "xlink:href") and v and not v.startswith("#")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data.strip())


def test_html_is_whole_and_needs_nothing_from_outside() -> None:
    curves = latency_curves(FEASIBLE, Queues())
    text = html(FEASIBLE, curves)
    outline = Outline(text)
    assert outline.open == []
    assert outline.outside == []
    assert "<script" not in text
    assert 'name="viewport"' in text
    assert "@media print" in text
    captions = outline.texts["figcaption"]
    assert {"Latency against load", "Disks needed"} <= set(captions)
    assert {"Sensitivity", "Growth"} <= set(captions)
    assert text == html(FEASIBLE, curves)
    # the answer comes before every table and plot
    best = FEASIBLE.best
    assert best is not None
    assert text.index(f"{best.disks} disks of") < text.index("<table")
    # it opens with latency against load, and with what a failed disk does
    opening = text[text.index('class="opening"') : text.index("<h2>Candidates")]
    assert opening.count("<svg") == 2
    assert "load to carry" in opening
    assert "disk failed" in opening
    assert text.index('class="facts"') < text.index("<table")
    # the question, the day and the version stand above it, and its row is marked
    assert text.index("The question: how many disks for ") < text.index(f"{best.disks} disks of")
    assert f'<p class="when">2026-11-26, diskmodel {__version__}</p>' in html(FEASIBLE, curves, "2026-11-26")
    assert text.count('<tr class="best">') == 1
    assert "not in the profile" not in text
    assert "prefers-color-scheme: dark" in text


def test_the_question_of_a_report_names_every_limit() -> None:
    asked = {
        "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "100/s"},
        "objective": {
            "iops": 1500,
            "capacity": "2 TB",
            "latency": {"p99": "20 ms"},
            "rebuild_hours": 12,
            "data_loss_per_year": 1e-4,
        },
        "candidates": {"drives": ["generic-15k"], "levels": ["raid10"]},
    }
    assert question_words(PlanDescription.parse(asked)).startswith(
        "The question: how many disks for 1,500 requests/s, 2 TB of usable space, p99 latency of at most 20 ms, a "
        "rebuild within 12 h and a chance of data loss of at most 1 in 10,000 a year, of 8 KiB uniform, 70% reads"
    )


def test_a_curve_needs_three_points() -> None:
    candidate = FEASIBLE.candidates[0]
    assert candidate.trial is not None
    for n_points, n_drawings in ((CURVE - 1, 0), (CURVE, 1)):
        trials = tuple(replace(candidate.trial, disks=20 + extra) for extra in range(n_points))
        result = replace(FEASIBLE, candidates=(replace(candidate, trials=trials),))
        assert len(trials_svg(result)) == n_drawings


def test_the_steps_from_the_rule_of_thumb_are_drawn_where_they_differ() -> None:
    best = FEASIBLE.best
    assert best is not None
    assert best.waterfall_moves
    assert f"<figcaption>{waterfall_title(best)}</figcaption>" in html(FEASIBLE)
    same = tuple(replace(step, disks=7) for step in best.waterfall)
    flat = replace(best, waterfall=same)
    candidates = tuple(flat if item is best else item for item in FEASIBLE.candidates)
    text = html(replace(FEASIBLE, best=flat, candidates=candidates))
    assert "Nothing that it ignores changes the number" in text


def test_ids_of_inline_drawings_do_not_clash() -> None:
    text = html(FEASIBLE, latency_curves(FEASIBLE, Queues()))
    drawings = re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)
    assert len(drawings) >= 4
    definitions: dict[str, str] = {}
    for drawing in drawings:
        for name, body in re.findall(r'<(?:clipPath|path) id="([^"]+)"(.*?)/?>', drawing, flags=re.DOTALL):
            # the same name may stand twice only for the same thing
            assert definitions.setdefault(name, body) == body


def test_no_feasible_array_is_said_first() -> None:
    text = html(NOT)
    assert 'class="answer none"' in text
    assert "No feasible array" in text
    assert "p99" in markdown(NOT)


def test_markdown_has_a_row_for_each_candidate() -> None:
    text = markdown(FEASIBLE)
    rows = [line for line in text.splitlines() if line.startswith("| Generic")]
    assert len(rows) == len(FEASIBLE.candidates)
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1


def test_the_plan_inside_the_report_is_the_plan() -> None:
    text = markdown(FEASIBLE)
    inside = text.split("```toml\n")[1].split("```")[0]
    assert PlanDescription.parse(tomllib.loads(inside)) == FEASIBLE.plan


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"candidates": {"drives": ["generic-7k2", "intel-x25-e-64"], "levels": ["raid5"], "spares": 1}},
        {"candidates": {"drives": [{**load_drive("generic-15k").to_dict(), "rpm": 14_000}], "levels": ["raid10"]}},
        {"workload": {"size": "4 KiB", "addresses": {"pattern": "zipf", "theta": 0.9}, "clients": 8, "think": "5 ms"}},
        {"workload": {"streams": [{"name": "a", "size": "8 KiB", "rate": "10/s"}, {"size": "1 MiB", "clients": 1}]}},
        {"objective": {"iops": 500, "latency": {"p99": "9 ms"}, "degraded": {"latency": {"p99": "20 ms"}}}},
        {"controller": {"read_cache": {"size": "1 GiB"}}, "search": {"seed": 7}},
    ],
)
def test_few_words_reproduce_the_plan(changed: dict[str, Any]) -> None:
    plan = plan_of(exact=False, **changed)
    text = short_toml(plan)
    assert PlanDescription.parse(tomllib.loads(text)) == plan
    assert len(text) < len(plan.to_toml()) / 2
    assert "growth_ratio" not in text


def test_catalogue_drives_are_named_and_others_written_out() -> None:
    own = {**load_drive("generic-15k").to_dict(), "name": "own", "rpm": 14_000}
    text = short_toml(plan_of(exact=False, candidates={"drives": ["generic-7k2", own], "levels": ["raid5"]}))
    first, second = tomllib.loads(text)["candidates"]["drives"]
    assert first == "generic-7k2"
    assert second["rpm"] == 14_000


def test_csv_is_read_back() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(FEASIBLE))))
    assert [int(row["disks"]) for row in rows] == [candidate.disks for candidate in FEASIBLE.candidates]
    assert all(float(row["p99_ms"]) <= 40 for row in rows)
    assert [row["disks"] for row in csv.DictReader(io.StringIO(as_csv(NOT)))] == ["", ""]


def test_names_cannot_smuggle_markup() -> None:
    drive = load_drive("generic-15k").to_dict() | {"name": "<script>alert(1)</script>"}
    result = run_plan(
        plan_of(name="<b>x</b>", candidates={"drives": [drive], "levels": ["raid10"], "max_disks": 40}),
        evaluate=Queues(),
    )
    text = html(result)
    assert "<script" not in text
    assert "<b>" not in text
    assert Outline(text).open == []


def test_files_by_ending(tmp_path: Path) -> None:
    for ending in ("html", "md", "csv"):
        write_report(FEASIBLE, tmp_path / f"r.{ending}")
        assert (tmp_path / f"r.{ending}").stat().st_size > 200
    with pytest.raises(DescriptionError, match=r"must end in \.html, \.md or \.csv"):
        write_report(FEASIBLE, tmp_path / "r.pdf")
    with pytest.raises(OutputError, match="its directory does not exist"):
        write_report(FEASIBLE, tmp_path / "nowhere" / "r.html")


def evil() -> Any:
    """A result whose names are markup, formulas and commands for a terminal."""
    drive = load_drive("generic-10k").model_copy(update={"name": "=cmd|'/c calc'!A0 <script>alert(1)</script>"})
    plan = plan_of(name="[x](javascript:1) `a` <img src=x> \x1b]0;t\x07 ``` a\n# b", objective=GROWING)
    fields = {**dict(plan), "candidates": {**dict(plan.candidates), "drives": (drive,)}}
    return run_plan(PlanDescription.parse(fields), evaluate=Queues())


def test_markdown_shows_names_as_text() -> None:
    text = markdown(evil())
    head, fence, toml = text.partition("````toml")
    assert fence, "the fence is longer than any row of backticks in it"
    assert toml.rstrip().endswith("````")
    for markup in ("<script", "<img", "\x1b", "\x07", "[x](", "\n# b"):
        assert markup not in head
    assert "&lt;script&gt;" in head
    assert "\\[x\\](javascript:1)" in head
    # the bar in the name of the drive makes no column
    rows = [line for line in head.splitlines() if line.startswith("| ")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1


def test_csv_has_no_formulas() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(evil()))))
    assert rows[1][0].startswith("'=cmd|")
    numbers = [csv_cell(value) for value in (-1.5, 3, None)]
    assert numbers == [-1.5, 3, None]
    assert [csv_cell(text) for text in ("+1", "-1", "@a", "\ta", "raid5")] == ["'+1", "'-1", "'@a", "'\ta", "raid5"]


CONTROLS = "\x1b]0;t\x07 exe.\u202etxt \x85"


@pytest.mark.parametrize("make", [html, markdown, as_csv, plan_html])
def test_no_report_obeys_a_name(make: Callable[[Any], str]) -> None:
    drive = load_drive("generic-10k").model_copy(update={"name": f"drive {CONTROLS}"})
    plan = plan_of(name=f"plan {CONTROLS}", objective=GROWING)
    fields = {**dict(plan), "candidates": {**dict(plan.candidates), "drives": (drive,)}}
    text = make(run_plan(PlanDescription.parse(fields), evaluate=Queues()))
    assert not re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    assert "exe." in text
    assert "u202e" in text.lower()


def test_a_name_that_no_font_has_is_drawn_without_a_word() -> None:
    drive = load_drive("generic-10k").model_copy(update={"name": "\u4e2d\x07\u202e $x_$"})
    plan = plan_of(name="\u4e2d", objective=GROWING)
    fields = {**dict(plan), "candidates": {**dict(plan.candidates), "drives": (drive,)}}
    result = run_plan(PlanDescription.parse(fields), evaluate=Queues())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "<svg" in html(result, latency_curves(result, Queues()))


@pytest.mark.parametrize("scale", ["linear", "log", "whole"])
@pytest.mark.parametrize(
    "values", [(1, 2), (3, 4), (31, 44), (99, 101), (0.00071, 0.00074), (7, 7), (9000, 120_000), (0, 1)]
)
def test_every_axis_of_numbers_has_at_least_three_labels(values: tuple[float, float], scale: str) -> None:
    if scale == "log" and not all(values):
        return

    def draw(axes: Axes) -> None:
        axes.plot([0, 1, 2], [values[0], values[1], values[1]])
        if scale == "log":
            plot._logarithmic(axes)
        elif scale == "whole":
            axes.yaxis.set_major_locator(MaxNLocator(integer=True))

    def labels(side: str) -> list[str]:
        own = svg[svg.index(f'id="matplotlib.axis_{side}"') :].split('id="matplotlib.axis_')[1]
        return re.findall(r"<text[^>]*>([^<]+)</text>", own)

    svg = svg_of(draw)
    for side in ("1", "2"):
        assert len(labels(side)) >= 3, labels(side)
    assert len(set(labels("2"))) == len(labels("2"))


def test_every_panel_of_a_report_has_at_least_three_labels() -> None:
    curves = latency_curves(FEASIBLE, Queues())
    drawings = re.findall(r"<svg.*?</svg>", html(FEASIBLE, curves), flags=re.DOTALL)
    assert len(drawings) >= 5
    for svg in drawings:
        for part in svg.split('id="matplotlib.axis_')[1:]:
            assert len(re.findall(r"<text", part.split('id="patch_')[0])) >= 3


def test_a_report_has_the_heat_map_of_its_answer() -> None:
    plan = PlanDescription.parse(
        {
            "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "300/s"},
            "objective": {"latency": {"p99": "60 ms"}},
            "candidates": {"drives": ["generic-15k"], "levels": ["raid10"]},
        }
    )
    result = run_plan(plan, by_chance=False)
    heat = heat_of_best(result)
    assert heat is not None
    name, found = heat
    assert found.counts.sum() == 30_000
    assert found.revolution_ms == pytest.approx(4.0)
    text = html(result, heat=heat)
    outline = Outline(text)
    assert outline.open == []
    assert outline.outside == []
    assert f"Response times over time: {name}" in text
    assert text.count("<script>") == 1
    # nothing was simulated, nothing is shown
    counted = plan.model_copy(update={"search": plan.search.model_copy(update={"method": "rule"})})
    assert heat_of_best(run_plan(counted, by_chance=False)) is None
