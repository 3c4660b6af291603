"""A result in a notebook: a table, the distribution, where the time went; no latency of an overloaded array."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from diskmodel import Array, Result, Workload, simulate

SVG = "{http://www.w3.org/2000/svg}"


def run(n: int = 500, **workload: object) -> Result:
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid5", "disks": 4}})
    return simulate(array, Workload.parse({"size": "8 KiB", **workload}), n_requests=n)


def shown(result: Result) -> ElementTree.Element:
    """What the notebook gets, as a tree: it has to be well-formed."""
    return ElementTree.fromstring(f"<div>{result._repr_html_()}</div>")


def words(element: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in element.iter(f"{SVG}text")]


def test_table_holds_the_figures() -> None:
    result = run(clients=4)
    cells = [cell.text for cell in shown(result).iter("td")]
    assert f"{result.iops.mean:,.1f} IOPS" in cells
    assert f"{result.latency.quantiles_ns['p99'] / 1e6:.4g} ms" in cells


def test_plots_show_reads_writes_and_the_parts_that_took_time() -> None:
    result = run(clients=4, read_ratio=0.5)
    texts = words(shown(result))
    assert {"reads", "writes", "share of requests"} <= set(texts)
    assert f"p99 {result.latency.quantiles_ns['p99'] / 1e6:.3g} ms" in texts
    parts = {part for part, value in result.breakdown_ns.items() if value > 0}
    assert "parity" in parts
    assert parts <= set(texts)


def test_reads_only_has_no_curve_of_writes() -> None:
    assert "writes" not in words(shown(run(clients=4)))


@pytest.mark.parametrize("n", [1, 2])
def test_a_run_of_one_request_can_be_shown(n: int) -> None:
    assert shown(run(n, clients=1)).find(f".//{SVG}svg") is not None


def test_an_overloaded_array_is_shown_without_latency() -> None:
    result = run(4000, read_ratio=0.0, rate="3000/s")
    assert not result.is_stable
    tree = shown(result)
    assert tree.find(f".//{SVG}svg") is None
    assert "none: overloaded" in [cell.text for cell in tree.iter("td")]


def test_the_same_result_is_the_same_text_but_for_the_clock() -> None:
    plots = [run(clients=4)._repr_html_().split("<svg")[1] for _ in range(2)]
    assert plots[0] == plots[1]
