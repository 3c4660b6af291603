"""What replaying the trace found, beside the fitted workload, in one line."""

from __future__ import annotations

from diskmodel.plan.answer.trial import Trial
from diskmodel.plan.trial.replay_check import bursts_in_words
from diskmodel.plan.trial.trier import Trier

#: Latencies that differ by less count as agreement: the objective is met by both, and a percentile of some thousand
#: requests may be off by a quarter. At half, most traces would need an explanation; at double, a replay of half the
#: predicted latency would pass without one.
_AGREE_RATIO = 0.25


def replay_in_words(trier: Trier, trial: Trial) -> str:
    """Return one line on the replay at an answer, and on the smaller array that only the fitted workload allows.

    "" where no trace stands behind the plan.
    """
    trace = trier.case.trace
    if trace is None:
        return ""
    if trial.replay is None:
        return "the trace was not replayed: the array misses the objective under the fitted workload already"
    both = _both(trial)
    short = [other for other in trier.trials if other.fails_only_in_replay and other.disks < trial.disks]
    if trial.fails_only_in_replay:
        short = [trial]
    if short:
        smallest = short[0]
        at = f"with {smallest.disks} disks only the fitted workload meets the objective ({_both(smallest)})"
        here = "" if smallest is trial else f"with {trial.disks} disks, {both}; "
        text = f"{here}{at}: {bursts_in_words(trace)}"
    elif _agree(trial):
        text = f"replaying the trace agrees: {both}"
    else:
        text = f"replaying the trace differs and meets the objective too: {both}; {bursts_in_words(trace)}"
    return text + _conditions(trial)


def _conditions(trial: Trial) -> str:
    replay = trial.replay
    assert replay is not None
    text = (
        "" if replay.speed_up == 1 else f"; the trace was replayed {replay.speed_up:.3g} times as fast (growth, peak)"
    )
    return text + ("; addresses beyond the end of the array were wrapped" if replay.is_wrapped else "")


def _both(trial: Trial) -> str:
    assert trial.replay is not None
    replayed = _ms(trial.replay.latency_ms()["p99"])
    if not trial.replay.is_stable:
        replayed += " and falling behind"
    return f"p99 latency {_ms(_fitted_p99(trial))} fitted, {replayed} replayed"


def _agree(trial: Trial) -> bool:
    assert trial.replay is not None
    fitted, replayed = _fitted_p99(trial), trial.replay.latency_ms()["p99"]
    return abs(replayed - fitted) <= _AGREE_RATIO * max(fitted, replayed)


def _fitted_p99(trial: Trial) -> float:
    p99 = trial.outcome.latency_of("p99") if trial.outcome else None
    return float("nan") if p99 is None else p99.value / 1e6


def _ms(value: float) -> str:
    return f"{value / 1e3:.3g} s" if value >= 1000 else f"{value:.3g} ms"
