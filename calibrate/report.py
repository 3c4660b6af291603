"""A calibration as one HTML page: what was found, what could not be, residuals, and held-out errors."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibrate.joint_fit import last_stage_text
from calibrate.parameter_text import label, remark, shown
from calibrate.score import PERCENTILES
from diskmodel.drawing import svg_of

#: Colors that color-blind readers can distinguish.
_FITTED, _HELD_OUT = "#0072b2", "#d55e00"
_META = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse}td,th{padding:.2em .8em .2em 0;text-align:left;border-bottom:1px solid #ddd}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}.dim{color:#777}.bad{color:#b00020;font-weight:bold}"
    "svg{width:100%;height:auto}.wide{overflow-x:auto}"
)
#: Half width of the interval about each residual, in standard errors.
_SIGMAS = 2.0


def report_html(printed: Mapping[str, Any], residuals: Sequence[Mapping[str, Any]] = (), *, title: str) -> str:
    """Return the page.

    Parameters
    ----------
    printed : mapping
        What `diskmodel calibrate --json` prints.
    residuals : sequence of mapping
        One for each fitted condition: `what`, `measured_mean_ms`, `predicted_mean_ms`, `error_ratio`, `stderr_ratio`.
    title : str
    """
    held = dict(printed["held_out"])
    parts = [f"<h1>{html.escape(title)}</h1>", _verdict(printed)]
    if printed.get("last_stage"):
        parts.append(f"<p>Last stage: {html.escape(last_stage_text(printed['last_stage']))}.</p>")
    parts += [f"<p>Warning: {html.escape(text)}</p>" for text in printed.get("warnings", ())]
    parts.append("<h2>Parameters</h2>" + _parameter_table(printed["parameters"]))
    if residuals:
        rows = len(residuals) + (held.get("mean_error_ratio") is not None)
        parts.append(
            "<h2>Residuals</h2><p>Predicted mean response less the measured one, as a share of it, with two standard "
            "errors of the measurement to either side. Held-out conditions did not enter the fit.</p>"
            + svg_of(lambda axes: draw_residuals(axes, residuals, held), height=1.0 + 0.27 * rows)
            + svg_of(lambda axes: draw_agreement(axes, residuals, held))
        )
    else:
        parts.append("<h2>Residuals</h2><p>This evidence is fitted request by request: no means by condition.</p>")
    if printed.get("correlations"):
        parts.append("<h2>Correlations</h2>" + _correlation_table(printed["correlations"]))
    parts.append("<h2>Held out</h2>" + _held_table(held))
    if held.get("mixed_read_write"):
        parts.append("<h3>Mixes of reads and writes, never fitted</h3>" + _mix_table(held["mixed_read_write"]))
    if held.get("engine"):
        parts.append("<h3>The profile, run by the engines</h3>" + _held_table(held["engine"]))
    head = f"{_META}<title>{html.escape(title)}</title><style>{_STYLE}</style>"
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def draw_residuals(axes: Axes, residuals: Sequence[Mapping[str, Any]], held: Mapping[str, Any]) -> None:
    """Draw relative errors of fitted conditions and of the held-out one, one below the other."""
    labels = [str(row["what"]) for row in residuals]
    errors = [100 * float(row["error_ratio"]) for row in residuals]
    spreads = [100 * _SIGMAS * float(row["stderr_ratio"]) for row in residuals]
    at = np.arange(len(labels), dtype=np.float64)
    axes.axvline(0.0, color="black", linewidth=0.9)
    axes.errorbar(errors, at, xerr=spreads, fmt="o", color=_FITTED, markersize=4, linewidth=1, label="fitted")
    if held.get("mean_error_ratio") is not None:
        labels.append(str(held.get("what") or "held out"))
        last = float(len(labels) - 1)
        spread = 50 * float(held.get("repeatability_ratio") or 0.0)
        axes.errorbar(
            [100 * float(held["mean_error_ratio"])], [last], xerr=[spread], fmt="s", color=_HELD_OUT, label="held out"
        )
    axes.set_yticks(np.arange(len(labels)), labels, fontsize=7)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlabel("predicted less measured, % of measured")
    axes.grid(True, axis="x", alpha=0.3)
    axes.legend(fontsize=8)


def draw_agreement(axes: Axes, residuals: Sequence[Mapping[str, Any]], held: Mapping[str, Any]) -> None:
    """Draw predicted against measured mean responses."""
    measured = [float(row["measured_mean_ms"]) for row in residuals]
    axes.plot(measured, [float(row["predicted_mean_ms"]) for row in residuals], "o", color=_FITTED, label="fitted")
    if held.get("measured_mean_ms") is not None:
        axes.plot([held["measured_mean_ms"]], [held["predicted_mean_ms"]], "s", color=_HELD_OUT, label="held out")
    ends = [min(measured) / 1.2, max(measured) * 1.2]
    axes.plot(ends, ends, color="black", linewidth=0.9)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("measured mean response, ms")
    axes.set_ylabel("predicted, ms")
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8)


def _verdict(printed: Mapping[str, Any]) -> str:
    message = html.escape(str(printed["message"]))
    if printed["converged"]:
        return f"<p>{message}</p>"
    return f'<p class="bad">The fit has not converged: do not rely on this profile.</p><p>{message}</p>'


def _parameter_table(parameters: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for name, row in parameters.items():
        value, stderr, unit = shown(row)
        note = html.escape(remark(row)).replace("not identified", "<b>not identified</b>", 1)
        rows.append(
            f'<tr class="{"" if row["identified"] else "dim"}"><td>{html.escape(label(name))}</td>'
            f'<td class="n">{value}</td><td class="n">{f"± {stderr}" if stderr else ""}</td>'
            f"<td>{html.escape(unit)}</td><td>{note}</td></tr>"
        )
    head = "<tr><th>parameter</th><th>value</th><th>standard error</th><th>unit</th><th></th></tr>"
    return f'<div class="wide"><table>{head}{"".join(rows)}</table></div>'


def _correlation_table(correlations: Mapping[str, Any]) -> str:
    names = [html.escape(name) for name in correlations["names"]]
    rows = []
    for k, (name, values) in enumerate(zip(names, correlations["matrix"], strict=True)):
        cells = "".join(f'<td class="n">{value:.2f}</td>' for value in values[: k + 1])
        rows.append(f"<tr><td>{name}</td>{cells}</tr>")
    caption = "<p>Of the parameters that <code>simulate</code> draws, in the order of the rows.</p>"
    return f"{caption}<table>{''.join(rows)}</table>"


def _held_table(held: Mapping[str, Any]) -> str:
    if held.get("mean_error_ratio") is None:
        return f"<p>Nothing was held out: {html.escape(str(held.get('why', 'too little evidence')))}.</p>"
    rows = [
        (name.replace("_", " "), f"{value:.4g}" if isinstance(value, float) else html.escape(str(value)))
        for name, value in held.items()
        if value is not None and not isinstance(value, dict | list)
    ]
    body = "".join(f'<tr><td>{html.escape(name)}</td><td class="n">{value}</td></tr>' for name, value in rows)
    return f"<table>{body}</table>"


def _mix_table(mixes: Mapping[str, Any]) -> str:
    """Return a table of the errors of each mix, beside the repeatability of the measurement."""
    names = ("mean", *PERCENTILES, "demerit", "repetitions")
    rows = []
    for row in mixes["conditions"]:
        errors = row["percentile_error_ratios"]
        figures = [row["mean_error_ratio"], *(errors.get(name) for name in PERCENTILES)]
        cells = [_percent(value, "+.1f") for value in figures]
        cells += [_percent(row[name], ".1f") for name in ("demerit_ratio", "repeatability_ratio")]
        figures_html = "".join(f'<td class="n">{cell}</td>' for cell in cells)
        rows.append(f"<tr><td>{html.escape(str(row['what']))}</td>{figures_html}</tr>")
    head = "".join(f"<th>{name}</th>" for name in names)
    caption = "<p>Predicted less measured, % of measured; demerit and range of the repetitions, %.</p>"
    return f"{caption}<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"


def _percent(ratio: float | None, form: str) -> str:
    return "" if ratio is None else format(100 * ratio, form)
