"""The fewest disks of a candidate that meet the objective with the chance that it asks for."""

from __future__ import annotations

from dataclasses import replace

from diskmodel.plan.advice.profile_risk import DRAWS, fewer, profile_risk
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.effort import together
from diskmodel.plan.answer.profile_risk import CountChance, ProfileRisk
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.plan.trial.judge import misses_nothing
from diskmodel.plan.trial.trier import Trier
from diskmodel.units import in_disks

#: Purpose of the simulations.
PURPOSE = "what is not known"
#: Numbers of disks whose chance is determined anew, with draws of their own, before the candidate counts as one that
#: does not reach the chance. Draws of another number of disks differ by what a disk's queue holds; two are enough.
_TRIES = 3


def with_confidence(
    plan: PlanDescription,
    candidate: Candidate,
    evaluate: Evaluate,
    *,
    n_draws: int = DRAWS,
    most: int | None = None,
) -> Candidate:
    """Return a candidate with its chance, and with as many disks as have the chance that the objective asks for.

    The chance of fewer disks than it has as it is described is left out (`with_fewer`).

    Where no number of disks is known to have it, the candidate has the disks that meet the objective as they are
    described. Where everything is known, it is returned as it is.

    Parameters
    ----------
    plan : PlanDescription
    candidate : Candidate
        A feasible one.
    evaluate : Evaluate
    n_draws : int
        Of what is not known.
    most : int, optional
        Largest number of disks that is of interest: another candidate has the chance with so many.
    """
    first = profile_risk(plan, candidate, evaluate, n_draws=n_draws, with_fewer=False, most=most)
    if first is None or candidate.trial is None:
        return candidate
    known = replace(candidate, risk=first, probability=first.probability, nominal_disks=candidate.trial.disks)
    if first.is_confident or first.fewest is None:
        return known
    trier = Trier(Case(plan, candidate.family), evaluate, known=candidate.trials)
    curve = {one.disks: one.probability for one in first.curve}
    disks: int | None = first.fewest.disks
    for _ in range(_TRIES):
        if disks is None:
            break
        more = _with_disks(trier, known, disks)
        risk = profile_risk(plan, more, evaluate, n_draws=n_draws, with_curve=False)
        if risk is None or not more.is_feasible:
            break
        curve[disks] = risk.probability
        risk = replace(risk, curve=_in_order(curve, disks))
        if risk.is_confident:
            efforts = together([candidate.efforts, {PURPOSE: trier.effort}])
            return replace(_explained(more, first, risk), efforts=efforts)
        disks = next((count for count in trier.case.counts if disks < count <= (most or count)), None)
    return replace(known, risk=replace(first, curve=_in_order(curve, max(curve))))


def with_fewer(plan: PlanDescription, candidate: Candidate, evaluate: Evaluate) -> Candidate:
    """Return a candidate with the chance of fewer disks than it has as it is described, too."""
    risk = candidate.risk
    if risk is None or risk.most is not None:
        return candidate
    return replace(candidate, risk=replace(risk, curve=(*fewer(plan, candidate, evaluate), *risk.curve)))


def _in_order(curve: dict[int, float], most: int) -> tuple[CountChance, ...]:
    return tuple(CountChance(disks, curve[disks]) for disks in sorted(curve) if disks <= most)


def _with_disks(trier: Trier, candidate: Candidate, disks: int) -> Candidate:
    """Return a candidate with another number of disks."""
    trial = trier.careful(disks)
    smaller = [count for count in trier.case.counts if count < disks]
    below = trier(smaller[-1]) if smaller else None
    is_feasible = misses_nothing(trial.outcome, trial.criteria)
    return replace(candidate, trial=trial, below=below, is_feasible=is_feasible, trials=tuple(trier.trials))


def _explained(candidate: Candidate, nominal: ProfileRisk, risk: ProfileRisk) -> Candidate:
    """Return a candidate with more disks than it needs as it is described, and the reason."""
    asked = f"{100 * risk.confidence:.0f} %"
    reason = (
        f"{in_disks(nominal.disks)} meet the objective if everything is as described, but only with a chance of "
        f"{100 * nominal.probability:.0f} % in view of what is not known; the objective asks for {asked}"
    )
    return replace(
        candidate, risk=risk, probability=risk.probability, binds="confidence", reason=reason, is_decided=True
    )
