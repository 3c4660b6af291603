"""Calibration of a drive without moving parts: both models are fitted, and the better one is taken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from calibrate.arrays import Floats
from calibrate.calibration import Calibration, Parameter
from calibrate.evidence import Cells, Flushes, Key
from calibrate.flash.fit import LONG, FlashFit, fit_flash
from calibrate.flash.model import responses_by_simulation, run_length
from calibrate.flash.model_choice import choose
from calibrate.flash.profile import assumed_writes, parameters_of, profile_of
from calibrate.flash.writes import fields_of, fit_writes, flush_fields, flush_parameter
from calibrate.flash.writes import parameters_of as write_parameters
from calibrate.provenance import HOST_APART
from calibrate.score import N_REQUESTS, choose_held_out, held_out_report, nothing_held_out
from calibrate.virtual_disk import ServerFit, fit_single_server, responses_of
from calibrate.virtual_disk import parameters_of as server_parameters
from calibrate.virtual_disk import profile_of as server_profile
from diskmodel.drive import Flash, Virtual
from diskmodel.errors import Fault, InputError

#: Conditions of reads needed.
_MIN_CELLS = 2
#: Conditions that an error names at most.
_MOST_NAMED = 4
NOTES = (
    "Writes were not fitted: they are assumed to cost what reads of the same pattern cost, and 12 % more, without "
    "garbage collection."
)
WRITE_NOTES = "Writes are fitted without garbage collection: the drive as it was measured."
#: Smallest span of simulated reads, bytes: on less, random reads repeat pages.
_MIN_SPAN_BYTES = 1 << 30
#: Largest median error of a fit that has converged: beyond it the drive is of another kind.
_MAX_MISFIT_RATIO = 0.35
#: Largest error of a fitted condition that a fit which describes its evidence makes, beyond so many standard errors of
#: the measurement. Held-out rates of drives that the model describes are off by a few percent; at double, a host that
#: was measured instead of the drive goes unnoticed.
_MAX_RESIDUAL_RATIO, _N_STDERR = 0.1, 4


@dataclass(frozen=True)
class Known:
    """What is known of a drive besides its responses.

    Attributes
    ----------
    name : str
    capacity_bytes : int
    span_bytes : int
        The region that was read.
    together_ratio : float, optional
        Share of outstanding requests that complete together.
    buffer_bytes : int, optional
        The write buffer.
    flushes : Flushes, optional
    alone_ns : mapping
        Percentiles of single reads, where they are known: percent → response in ns.
    """

    name: str
    capacity_bytes: int
    span_bytes: int
    together_ratio: float | None = None
    buffer_bytes: int | None = None
    flushes: Flushes | None = None
    alone_ns: Mapping[float, float] = field(default_factory=dict)


def calibrate_flash(
    cells: Cells, known: Known, *, provenance: dict[str, Any], warnings: list[str], seed: int = 0
) -> Calibration:
    """Fit the flash drive behind cells.

    A host that limits some rates is part of the drive's overhead as long as one drive describes all conditions; where
    none does, the host is a station of its own, which the profile leaves out.

    Raises
    ------
    InputError
        When there are too few reads to fit anything.
    """
    reads = Cells({key: cell for key, cell in cells.items() if key.op == "read"})
    if len(reads) < _MIN_CELLS:
        rule = f"has too few reads: {_MIN_CELLS} queue depths or sizes are needed, and it has {_in_words(cells)}"
        raise InputError(Fault("evidence", None, rule, "measure random reads at several queue depths"))
    found = _fitted(cells.without_host(), known, provenance=provenance, warnings=warnings, seed=seed)
    taken = cells.host_ns(cells)
    if found.has_converged or not taken.any():
        return found
    said, middle = _host_station(taken[taken > 0])
    origin = {**provenance, HOST_APART: middle}
    apart = _fitted(cells, known, provenance=origin, warnings=[*warnings, said], seed=seed)
    return apart if apart.has_converged else found


def _host_station(taken_ns: Floats) -> tuple[str, int]:
    """Return what is said of a host that is not in the profile, and the median of its times in ns."""
    middle = round(float(np.median(taken_ns)))
    said = (
        f"the host's processor took {taken_ns.min() / 1000:.3g} to {taken_ns.max() / 1000:.3g} us for a request, which "
        f'is not in the profile: in an array of this host write [host] and submission = "{middle / 1000:.3g} us"'
    )
    return said, middle


def _in_words(cells: Cells) -> str:
    """Return what was measured, as the end of a sentence."""
    keys = [str(key) for key in sorted(cells)]
    more = f" and {len(keys) - _MOST_NAMED} more" if len(keys) > _MOST_NAMED else ""
    return ", ".join(keys[:_MOST_NAMED]) + more if keys else "none of a known size and queue depth"


def _fitted(cells: Cells, known: Known, *, provenance: dict[str, Any], warnings: list[str], seed: int) -> Calibration:
    """Return the better of both models; a host that the cells know is a station of its own."""
    reads = Cells({key: cell for key, cell in cells.items() if key.op == "read"})
    held_out = choose_held_out(reads)
    dies = fit_flash(reads.without(held_out), capacity_bytes=max(known.span_bytes, _MIN_SPAN_BYTES), seed=seed)
    server = fit_single_server(cells.without(held_out))
    choice = choose(reads, dies, server, known.together_ratio)
    common: dict[str, Any] = {"capacity_bytes": known.capacity_bytes, "name": known.name, "provenance": provenance}
    drive: Flash | Virtual
    parameters: dict[str, Parameter]
    if choice.is_single_server:
        parameters, drive, rows = (
            server_parameters(server),
            server_profile(server, **common),
            _server_rows(cells, server),
        )
    else:
        parameters = parameters_of(dies)
        written = fit_writes(cells, dies.shape, known.buffer_bytes)
        writes, notes = assumed_writes, NOTES
        if written is not None:
            parameters |= write_parameters(written, dies.shape)
            writes, notes = partial(fields_of, written), WRITE_NOTES
        drive = profile_of(dies, writes=writes, notes=notes, alone_ns=known.alone_ns, **common)
        if known.flushes is not None:
            flush = flush_fields(known.flushes, command_ns=drive.write_overhead_ns + drive.write_latency_ns)
            drive = drive.model_copy(update=flush)
            parameters["flush"] = flush_parameter(known.flushes, flush)
        rows = _die_rows(reads, _with_delays(dies, drive, cells, known, seed))
        if written is not None:
            rows += [_row(cells, key, float(ns), 0) for key, ns in zip(written.keys, written.predicted_ns, strict=True)]
    if held_out:
        report = held_out_report(
            reads,
            {
                key: predict(drive, key, seed=seed + 1, span_bytes=known.span_bytes, host_ns=float(host_ns))
                for key, host_ns in zip(held_out, cells.host_ns(held_out), strict=True)
            },
        )
    else:
        report = nothing_held_out("fewer than five queue depths of random reads were measured")
    fit = server if choice.is_single_server else dies
    typical = float(np.median([abs(row["error_ratio"]) for row in rows]))
    missed = _missed([*rows, *_held_out_rows(reads, held_out, report)])
    message = f"{choice}; {fit.message}"
    if typical >= _MAX_MISFIT_RATIO:
        message = f"the model is off by {typical:.0%} at the median; this may not be a flash drive or a virtual disk"
    elif missed:
        worst = max(missed, key=lambda row: abs(row["error_ratio"]))
        count = f"{len(missed)} of {len(rows) + len(held_out)} conditions {'is' if len(missed) == 1 else 'are'} off"
        message = (
            f"{choice}; the fit does not describe its own evidence: {count} by more than {_MAX_RESIDUAL_RATIO:.0%}, "
            f"{worst['what']} by {worst['error_ratio']:+.0%}"
        )
    return Calibration(
        drive,
        fit.has_converged and typical < _MAX_MISFIT_RATIO and not missed,
        message,
        parameters,
        report,
        {"residuals": rows, "warnings": warnings, "chi2": fit.chi2, "choice": str(choice)},
    )


def predict(drive: Flash | Virtual, key: Key, *, seed: int, span_bytes: int, host_ns: float = 0.0) -> Floats:
    """Return responses in ns of a closed loop of reads on a drive, long enough for a distribution."""
    if isinstance(drive, Virtual):
        alone = responses_of(drive, key, n_requests=N_REQUESTS, seed=seed)
        return np.maximum(alone + host_ns, key.queue_depth * host_ns)
    pages = max(key.length_bytes // drive.page_bytes, 1)
    n = max(N_REQUESTS // pages, 40 * key.queue_depth, 200)
    return responses_by_simulation(drive, key, n_requests=n, seed=seed, span_bytes=span_bytes, host_ns=host_ns)


def _with_delays(fit: FlashFit, drive: Flash, cells: Cells, known: Known, seed: int) -> FlashFit:
    """Return the fit with what its profile predicts: delays change rates of some conditions by a few percent."""
    if not drive.read_delay_ns:
        return fit
    host_ns = cells.host_ns(fit.keys).tolist()
    predicted = [
        responses_by_simulation(
            drive, key, n_requests=run_length(key, LONG), seed=seed + 1, span_bytes=known.span_bytes, host_ns=host
        ).mean()
        for key, host in zip(fit.keys, host_ns, strict=True)
    ]
    return replace(fit, predicted_ns=np.array(predicted))


def _die_rows(cells: Cells, fit: FlashFit) -> list[dict[str, Any]]:
    found = zip(fit.keys, fit.predicted_ns, strict=True)
    return [_row(cells, key, float(predicted), run_length(key, LONG)) for key, predicted in found]


def _server_rows(cells: Cells, fit: ServerFit) -> list[dict[str, Any]]:
    return [_row(cells, key, float(predicted), 0) for key, predicted in zip(fit.keys, fit.predicted_ns, strict=True)]


def _held_out_rows(cells: Cells, keys: Iterable[Key], report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what was held out like a fitted condition: its error counts as much as theirs."""
    return [
        {"what": f"{key} (held out)", "error_ratio": report["mean_error_ratio"], "stderr_ratio": cells.sigma_ratio(key)}
        for key in keys
    ]


def _missed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the conditions that the model misses by more than it should and more than chance explains."""
    return [row for row in rows if abs(row["error_ratio"]) > max(_MAX_RESIDUAL_RATIO, _N_STDERR * row["stderr_ratio"])]


def _row(cells: Cells, key: Key, predicted_ns: float, n_simulated: int) -> dict[str, Any]:
    """Return measured and fitted mean of one cell; `n_simulated` is 0 where a formula is exact."""
    return {
        "what": str(key),
        "op": key.op,
        "queue_depth": key.queue_depth,
        "length_bytes": key.length_bytes,
        "measured_mean_ms": cells[key].mean_ns / 1e6,
        "predicted_mean_ms": predicted_ns / 1e6,
        "error_ratio": predicted_ns / cells.expected_ns(key) - 1.0,
        "stderr_ratio": cells.sigma_ratio(key),
        "n_simulated": n_simulated,
    }
