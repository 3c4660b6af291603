"""Calibrates drives drawn at random on one part of their trace and predicts the rest.

`python -m tests.calibrate.trace.random_drives 0 20` does so for the seeds 0 to 19 and prints a line for each, then
how many came out within the bounds. Last is what the engines make of the profile.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrate.evidence.requests import RequestTrace
from calibrate.score.agreement import agreement
from calibrate.trace.engine.replay import N_RUNS, Replay
from calibrate.trace.fit import TraceFit, fit_trace
from calibrate.trace.geometry.angle_map import count_heads
from calibrate.trace.spectrum import Floats
from tests.calibrate.trace.random_clock import draw_clock
from tests.calibrate.trace.random_drive import RandomDrive, draw_drive, draw_trace

N_FITTED, N_PREDICTED = 5000, 5000
MAX_DEMERIT = 0.03
MAX_MEAN_ERROR = 0.02
# what gradient boosting reaches on the real drives is 15 to 22 % of the mean
MAX_MAE = 0.15
LONGEST = 0.005


@dataclass(frozen=True)
class Outcome:
    """A drawn drive, its fit, and the fit's scores on requests it has not seen."""

    drive: RandomDrive
    fit: TraceFit
    score: dict[str, Any]
    seconds: float
    true_period_ms: float
    calm_demerit_ratio: float
    engine: dict[str, Any]

    @property
    def demerit_ratio(self) -> float:
        """Return the demerit that is compared with the bound.

        Of drives that recalibrate, the longest responses are left out: the few recalibrations weigh more than all
        else, and one half of a trace has more of them than the other.
        """
        return self.calm_demerit_ratio if self.drive.recalibration_ms else float(self.score["demerit_ratio"])

    @property
    def heads(self) -> int | None:
        """Heads found, None where they were not."""
        angles = self.fit.model.angles
        return None if angles is None else count_heads(angles)[0]

    @property
    def failures(self) -> list[str]:
        """What missed its bound."""
        rpm = self.fit.model.rotation.period_ms / self.true_period_ms - 1
        reported = {
            "period": abs(rpm) < 5e-5,
            "heads": self.heads in (None, self.drive.layout.heads),
            "demerit": self.demerit_ratio < MAX_DEMERIT,
            "mean": abs(self.score["mean_error_ratio"]) < MAX_MEAN_ERROR,
            "mae": self.score["mae_ms"] < MAX_MAE * self.score["measured_mean_ms"],
        }
        return [name for name, is_fine in reported.items() if not is_fine]


def calibrated(seed: int, n_fitted: int = N_FITTED, n_predicted: int = N_PREDICTED) -> Outcome:
    """The drive of a seed, calibrated on the first requests of its trace and judged by the rest."""
    drive = draw_drive(seed)
    trace = draw_trace(drive, n_fitted + n_predicted, seed)
    started = time.process_time()
    fit = fit_trace(trace.part(0, n_fitted))
    seconds = time.process_time() - started
    rest = trace.part(n_fitted, None)
    prediction = fit.predict(rest)
    score = dict(agreement(rest.response_ms, prediction.expected_ms, prediction.draws_ms))
    slowness = _slowness(seed, trace.part(0, n_fitted))
    calm = _calm_demerit_ratio(rest.response_ms, prediction.draws_ms)
    return Outcome(drive, fit, score, seconds, drive.period_ms * slowness, calm, _by_engine(fit, rest))


def _by_engine(fit: TraceFit, rest: RequestTrace) -> dict[str, Any]:
    """Score of the profile run by the engines, up to the first request beyond it."""
    drive = fit.to_drive()
    beyond = rest.end > drive.n_sectors
    known = rest.part(0, int(beyond.argmax()) if beyond.any() else len(rest))
    draws = Replay(fit.model, known).draws_ms(drive, N_RUNS)
    return dict(agreement(known.response_ms, np.median(draws, axis=1), draws))


def _calm_demerit_ratio(measured_ms: Floats, draws_ms: Floats) -> float:
    """Demerit without the longest responses, measured and predicted, as a share of the mean."""
    rank = (np.arange(len(measured_ms)) + 0.5) / len(measured_ms)
    missed = np.sort(measured_ms) - np.quantile(draws_ms, rank)
    return float(np.sqrt((missed[rank < 1.0 - LONGEST] ** 2).mean()) / measured_ms.mean())


def _slowness(seed: int, trace: RequestTrace) -> float:
    """Of the spindle, on average over a trace: the host's time over the drive's."""
    span = np.array([float(trace.response_ms.sum() + trace.pause_ms.sum())])
    return float((draw_clock(seed).host_ms(span) / span)[0])


def main() -> None:
    """Try a range of seeds."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int, help="excluded")
    parser.add_argument("--fitted", type=int, default=N_FITTED)
    chosen = parser.parse_args()
    outcomes = []
    for seed in range(chosen.first, chosen.last):
        found = calibrated(seed, chosen.fitted)
        score, rotation = found.score, found.fit.model.rotation
        outcomes.append(found)
        print(
            f"{seed:4d} demerit {score['demerit_ratio']:6.2%} ({found.calm_demerit_ratio:.2%} calm) "
            f"mean {score['mean_error_ratio']:+6.2%} mae {_mae_ratio(score):6.2%} "
            f"engine {found.engine['demerit_ratio']:6.2%} mae {_mae_ratio(found.engine):6.2%} "
            f"heads {found.heads} period {rotation.period_ms / found.true_period_ms - 1:+.1e} {found.seconds:4.1f} s "
            f"{' '.join(found.failures) or 'fine'} | {found.drive.describe()}, {draw_clock(seed).describe()}",
            flush=True,
        )
    demerits = [found.demerit_ratio for found in outcomes]
    fine = sum(not found.failures for found in outcomes)
    print(f"{fine} of {len(outcomes)} within the bounds; median demerit {np.median(demerits):.2%}")
    for name, scores in (
        ("model", [found.score for found in outcomes]),
        ("engines", [found.engine for found in outcomes]),
    ):
        print(
            f"median error of one request, {name}: {np.median([_mae_ratio(score) for score in scores]):.2%} of the mean"
        )


def _mae_ratio(score: dict[str, Any]) -> float:
    return float(score["mae_ms"] / score["measured_mean_ms"])


if __name__ == "__main__":
    main()
