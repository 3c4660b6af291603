"""The list of statistics, and its names written out for type checkers, which see no attributes made from a list."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

import diskmodel.plan.question.objective as objective
import diskmodel.result.figure as figure
from diskmodel.plan import LatencyLimits, LatencyObjective
from diskmodel.result import Result
from diskmodel.result.statistics.registry import BY_NAME, PERCENTILES, STATISTICS


def declared_for_type_checkers(module: ModuleType) -> list[str]:
    """Return the attributes under `if TYPE_CHECKING`, in their order; imports do not count."""
    tree = ast.parse(inspect.getsource(module))
    guarded = [
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    ]
    found = [node for node in guarded if isinstance(node, ast.FunctionDef | ast.AnnAssign)]
    return [node.name if isinstance(node, ast.FunctionDef) else ast.unparse(node.target) for node in found]


def test_levels_rise_and_names_and_labels_say_them() -> None:
    levels = list(PERCENTILES.values())
    assert levels == sorted(set(levels))
    assert all(0 < level < 1 for level in levels)
    for name, level in PERCENTILES.items():
        assert float(f"0.{name[1:]}") == level
        assert BY_NAME[name].label == f"p{100 * level:g}"
    assert len(BY_NAME) == len(STATISTICS)


def test_a_percentile_is_reported_from_ten_requests_beyond_it_on_or_always() -> None:
    for one in STATISTICS:
        if one.level is not None and one.least_requests > 1:
            assert round(one.least_requests * (1 - one.level), 6) == 10


def test_results_have_a_documented_property_for_each_percentile() -> None:
    assert declared_for_type_checkers(figure) == list(BY_NAME)
    for name in BY_NAME:
        assert BY_NAME[name].label in (inspect.getdoc(getattr(Result, name)) or "")


def test_objectives_have_a_limit_for_each_statistic() -> None:
    fields = [f"{one.name}_ns" for one in STATISTICS]
    assert declared_for_type_checkers(objective) == fields
    assert list(LatencyLimits.model_fields) == fields
    assert list(LatencyObjective.model_fields) == [*fields, "streams"]
    assert LatencyLimits.parse({one.name: "20 ms" for one in STATISTICS}).limits() == dict.fromkeys(BY_NAME, 20_000_000)
