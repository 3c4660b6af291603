"""Why a measurement differs from what an array should do: one call, one explanation."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from diskmodel.array import Array
from diskmodel.doing import doing
from diskmodel.engine.ledger import EXPLANATION_S, question
from diskmodel.explanation.before import paired
from diskmodel.explanation.expected import compare
from diskmodel.explanation.experiments import next_experiment
from diskmodel.explanation.explanation import Explanation, explained
from diskmodel.explanation.measured import Measured
from diskmodel.explanation.odd import is_enough, odd_ones
from diskmodel.explanation.read import read_results
from diskmodel.explanation.simulator import Simulator
from diskmodel.explanation.weigh import SOUND, as_described, has_fingerprint, weigh


def explain(
    results: str | Path | Measured | Iterable[str | Path | Measured],
    array: Array | str,
    *,
    before: str | Path | Measured | Iterable[str | Path | Measured] = (),
    device: str | None = None,
    seed: int = 0,
) -> Explanation:
    """Return why an array does not do what it should: expected against measured, and the causes that fit.

    Parameters
    ----------
    results : path, Measured, or iterable of these
        Results of fio or other load generators, recordings of iostat, sar and their like, traces with responses,
        measurements of `diskmodel measure`; `measured_in_words` makes one of a line. All of them of the same array.
    array : Array, or words for one
        As it should be.
    before : as results
        The same loads when nothing was wrong: of another day, another host, or another member of the same make. What
        they leave open is much less than what a description does, and the cause is what has changed since.
    device : str, optional
        Of a recording of several devices; of fio's results, the job.
    seed : int

    Returns
    -------
    Explanation

    Raises
    ------
    InputError
        When a file cannot be read, holds no result, or does not fit the array.
    """
    with question(EXPLANATION_S):
        return _answer(results, Array.from_words(array) if isinstance(array, str) else array, before, device, seed)


_Given = str | Path | Measured | Iterable[str | Path | Measured]


def _answer(results: _Given, array: Array, before: _Given, device: str | None, seed: int) -> Explanation:
    began = time.perf_counter()
    measured, left_out = _all_of(results, device, array)
    if not measured:
        read_results([], device)  # says what is missing
    sound, sound_out = _all_of(before, device, array)
    if sound:
        measured, notes = paired(measured, sound)
        left_out = [*left_out, *sound_out, *notes]
    with doing("simulating what is expected"):
        simulator = Simulator(array, measured, seed)
    verdict = compare(simulator)
    odd = odd_ones(measured, verdict)
    is_asked = not is_enough(odd) and (
        not verdict.is_as_expected or (verdict.is_doubtful and has_fingerprint(simulator))
    )
    hypotheses = weigh(simulator) if is_asked else []
    if verdict.is_as_expected and hypotheses:
        verdict = replace(verdict, is_as_expected=as_described(hypotheses) >= SOUND)
        hypotheses = [] if verdict.is_as_expected else hypotheses
    experiment = next_experiment(simulator, hypotheses, seed)
    return explained(simulator, verdict, odd, hypotheses, experiment, left_out, time.perf_counter() - began)


def _all_of(
    given: str | Path | Measured | Iterable[str | Path | Measured], device: str | None, array: Array
) -> tuple[list[Measured], list[str]]:
    """Return what was measured, of files and as it is, and what was left out."""
    own = [given] if isinstance(given, str | Path | Measured) else list(given)
    measured = [one for one in own if isinstance(one, Measured)]
    paths = [one for one in own if isinstance(one, str | Path)]
    if not paths:
        return measured, []
    read, left_out = read_results(paths, device, array)
    return [*read, *measured], left_out
