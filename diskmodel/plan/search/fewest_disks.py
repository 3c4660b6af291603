"""The fewest disks of one family that meet an objective."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from diskmodel.engine.ledger import current
from diskmodel.layout.levels import KINDS
from diskmodel.plan.answer.candidate import Candidate, level_in_words
from diskmodel.plan.answer.criterion import Criterion, Verdict, overall, tightest
from diskmodel.plan.answer.effort import together
from diskmodel.plan.answer.trial import Trial
from diskmodel.plan.question.case import Case
from diskmodel.plan.search.aligned import aligned_counts
from diskmodel.plan.search.difference import difference_in_words
from diskmodel.plan.search.hint import Hint, margin_of
from diskmodel.plan.search.replay_words import replay_in_words
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.plan.trial.trier import Trier
from diskmodel.result.rounds import in_words
from diskmodel.result.statistics import MIN_CYCLES, MIN_ROUNDS, UNKNOWN_CYCLE
from diskmodel.units import in_disks

#: Trials that follow the formulas' guess before bisection takes over: a good guess ends the search in two or three.
#: At 4, searches bisect although the count next to the answer is guessed; double wastes simulations on bad guesses.
GUESSES = 6
#: Trials in which a search ends when the question has used what one may take of computing time. With none, the first
#: number that is enough is the answer, however large; at double, two hundred slow trials take a minute.
LATE = 3

#: Purposes of simulations: finding the answer, and running on around one until it is settled.
SEARCH, CONFIRMATION = "search", "confirmation"

#: Criteria that more disks can only make worse.
_SHRINKING = ("cost", "rack_units", "data_loss")


def search_family(
    case: Case, evaluate: Evaluate, *, is_careful: bool = True, before: Candidate | None = None
) -> Candidate:
    """Return the fewest disks of one family that meet the objective.

    Parameters
    ----------
    case : Case
    evaluate : Evaluate
        Decides; the formulas only choose where to begin.
    is_careful : bool
        Whether runs at the answer and at the next smaller count go on until they are settled. Without it they end as
        soon as every interval is on one side of its limit, or at `Search.max_requests`; only where that leaves open
        whether the largest count is enough, it is found with care.
    before : Candidate, optional
        The answer of a search without care, to go on from.

    Notes
    -----
    Assumes that more disks never make speed, space or the rebuild worse, and never make cost, rack units or data loss
    better; but where writes may be whole rows, the counts with which they are (`aligned_counts`) are tried, too.
    The search begins at the formulas' guess, corrected by each trial, and ends by bisection when two
    neighboring counts differ. With care, runs at the answer and at the next smaller count then go on until they
    decide, or the plan's budget for deciding is spent (`Search.max_requests_at_answer`).
    """
    counts = case.counts
    if not counts:
        level = level_in_words(case.family.level)
        why = f": {case.why_no_counts}" if case.why_no_counts else ""
        reason = f"{level} cannot have any of the numbers of disks in the plan ({_range(case)}){why}"
        return Candidate(case.family, False, None, None, "minimum disks", None, reason, True, None, (), ())
    trier = Trier(case, evaluate, known=() if before is None else before.trials)
    found = _searched(trier, is_careful=is_careful, before=before)
    earlier = {} if before is None else before.efforts
    purpose = SEARCH if before is None else CONFIRMATION
    return replace(found, efforts=together([earlier, {purpose: trier.effort}]))


def _searched(trier: Trier, *, is_careful: bool, before: Candidate | None) -> Candidate:
    """Return what a search finds in a family that has counts."""
    case, counts = trier.case, trier.case.counts
    fixed = cache(trier.static)
    low = _first(counts, lambda n: not _fails(fixed(n), but=_SHRINKING))
    if low is None:
        return _infeasible(trier, counts[-1], "")
    high = len(counts) - 1
    if not KINDS[case.family.level].has_groups:
        # what more disks make worse, each further one does
        beyond = _first(counts[low:], lambda n: _fails(fixed(n)))
        high = high if beyond is None else low + beyond - 1
    while high >= low and _fails(fixed(counts[high])):
        high -= 1
    if high < low:
        return _infeasible(trier, counts[low], "")
    allowed = counts[low : high + 1]
    hint = Hint(trier)
    aligned = [n for n in aligned_counts(case, allowed) if not hint.is_hopeless(n)]
    if before is None:
        # the hint knows how an open load is shared among disks, which is more than a line between two margins
        margin = (lambda n: margin_of(trier(n))) if case.workload.queue_depth else (lambda _: math.nan)
        guess = _fewest(allowed, lambda n: trier(n).is_met, hint, margin)
        guess = _or_fewer(aligned, guess, lambda n: trier(n).is_met)
    else:
        guess = before.disks
    capped = "" if high == len(counts) - 1 else _cap(fixed(counts[high + 1]), counts[high + 1])
    if guess is not None and not is_careful:
        return _feasible(trier, guess)
    if not is_careful and trier(allowed[-1]).verdict is Verdict.FAILS:
        return _infeasible(trier, allowed[-1], capped)
    first = allowed[-1] if guess is None else guess
    # around that guess runs go on until they decide; mostly it stays, and only its neighbor is run again
    found = _fewest(
        allowed, lambda n: trier.careful(n).is_met, lambda n: n >= first, lambda n: margin_of(trier.careful(n))
    )
    found = _or_fewer(aligned, found, lambda n: trier.careful(n).is_met)
    if found is None:
        return _infeasible(trier, allowed[-1], capped)
    return _feasible(trier, found)


def _or_fewer(aligned: list[int], found: int | None, is_met: Callable[[int], bool]) -> int | None:
    """Return the first of the counts with which writes are whole rows that is enough, where it is less than `found`.

    As far as the question has time for them.
    """
    for n in aligned:
        if found is not None and n >= found:
            break
        if current().is_spent:
            current().leave_out(["numbers of disks with which writes are whole rows"])
            break
        if is_met(n):
            return n
    return found


def _range(case: Case) -> str:
    """Return the numbers of disks that the plan allows, in words."""
    candidates = case.plan.candidates
    if candidates.disks:
        return ", ".join(map(str, candidates.disks))
    low, high = candidates.counts[0], candidates.counts[-1]
    return str(low) if low == high else f"{low} to {high}"


def _fewest(
    counts: list[int],
    is_met: Callable[[int], bool],
    hint: Callable[[int], bool],
    margin: Callable[[int], float] = lambda _: math.nan,
) -> int | None:
    """Return the smallest count for which the monotone `is_met` is true; None without any.

    `hint` guesses and may learn between calls. Between a count that is enough and one that is not, `margin` (above 0
    where it is enough, nan where unknown) is interpolated. After `GUESSES` trials, bisection takes over. When the
    question has no time left, the largest count says whether any is enough, and the search ends `LATE` trials later.
    """
    good, bad, n_guessed, n_late = len(counts), -1, 0, 0
    while good - bad > 1:
        at = (good + bad) // 2
        if current().is_spent and bad >= 0 and good == len(counts):
            at = good - 1
        elif current().is_spent and n_late >= LATE:
            break
        elif n_guessed < GUESSES or (good == len(counts) and n_guessed < 2 * GUESSES):
            n_guessed += 1
            guess = _between(counts, bad, good, margin)
            if guess is None:
                guess = _first(counts, hint)
            if guess is None:
                guess = _doubled(counts, bad)
            at = min(max(guess, bad + 1), good - 1)
        n_late += current().is_spent
        good, bad = (at, bad) if is_met(counts[at]) else (good, at)
    return counts[good] if good < len(counts) else None


def _between(counts: list[int], bad: int, good: int, margin: Callable[[int], float]) -> int | None:
    """Return the index where the margin, linear in the logarithm of the count, becomes positive; None where unknown."""
    if bad < 0 or good == len(counts):
        return None
    short, over = margin(counts[bad]), margin(counts[good])
    if not (math.isfinite(short) and math.isfinite(over) and short < over):
        return None
    share = min(max(-short / (over - short), 0.0), 1.0)
    count = counts[bad] * (counts[good] / counts[bad]) ** share
    return next(i for i in range(bad, good + 1) if counts[i] >= count - 1e-9 or i == good)


def _doubled(counts: list[int], bad: int) -> int:
    """Return the index of the first count twice as large as the one at `bad`, at most the last; without `bad` the last.

    Near saturation a formula that is scaled to a simulation may find no count large enough. The next trial, farther
    from saturation, corrects it, and costs less than one of the largest array.
    """
    if bad < 0:
        return len(counts) - 1
    return next((i for i, count in enumerate(counts) if count >= 2 * counts[bad]), len(counts) - 1)


def _first(counts: list[int], is_met: Callable[[int], bool]) -> int | None:
    """Return the index of the first count for which the monotone `is_met` is true, by bisection."""
    bad, good = -1, len(counts)
    while good - bad > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if is_met(counts[middle]) else (good, middle)
    return good if good < len(counts) else None


def _fails(criteria: list[Criterion], but: tuple[str, ...] = ()) -> bool:
    return overall(item for item in criteria if item.name not in but) is Verdict.FAILS


def _cap(criteria: list[Criterion], disks: int) -> str:
    failed = tightest(item for item in criteria if item.name in _SHRINKING)
    return f"; with {in_disks(disks)} or more: {failed}" if failed else ""


def _feasible(trier: Trier, disks: int) -> Candidate:
    counts = trier.case.counts
    trial, at = trier(disks), counts.index(disks)
    fewer = [one for one in trier.trials if one.disks < disks]
    has_ended = current().is_spent and at > 0 and (not fewer or fewer[-1].disks < counts[at - 1])
    if at and not has_ended:
        fewer = [trier(counts[at - 1])]
    below = fewer[-1] if fewer else None
    binding = None if below is None else tightest(below.criteria)
    is_decided = not has_ended and (below is None or below.verdict is Verdict.FAILS)
    if has_ended:
        current().leave_out(["fewer disks than the answer"])
        binds = "computing time"
        tried = f"; with {in_disks(below.disks)}: {binding}" if below is not None else ""
        reason = f"fewer than {in_disks(disks)} may be enough, which there was no time to try{tried}"
    elif binding is None or below is None:
        binds, reason = "minimum disks", f"{disks} is the smallest number that the level or the plan allows"
    elif is_decided:
        binds, reason = binding.name, f"with {in_disks(below.disks)}: {binding}"
    else:
        binds = binding.name
        verb = "is" if below.disks == 1 else "are"
        close = f"{in_disks(below.disks)} {verb} too close to call in {_length(below)}"
        reason = f"{close}, so the larger number is taken: {binding}"
    reason += "" if has_ended else _host_limit(below) + _rounds(below)
    counted = trier.rule_of_thumb_disks
    words = difference_in_words(trier, trial, counted)
    return Candidate(
        trier.case.family,
        True,
        trial,
        below,
        binds,
        binding,
        reason,
        is_decided,
        counted,
        words,
        tuple(trier.trials),
        replay_in_words(trier, trial),
    )


def _host_limit(trial: Trial | None) -> str:
    """Return what of the host limits the rate of a trial, as the end of a sentence; "" where nothing does."""
    outcome = trial.outcome if trial is not None else None
    return f"; {outcome.host_limit}" if outcome is not None and outcome.host_limit else ""


def _rounds(trial: Trial | None) -> str:
    """Return why a trial could not see the long run, as the end of a sentence; "" where it did (rules Z10, Z11)."""
    outcome = trial.outcome if trial is not None else None
    if outcome is not None and outcome.overflow_requests and not outcome.is_partial:
        return (
            "; no burst filled the controller's write cache, and how seldom one does is known from "
            f"{outcome.overflow_requests:,} requests on: raise search.max_requests_at_answer to that"
        )
    if outcome is None or not outcome.is_partial:
        return ""
    if outcome.cycle_requests >= UNKNOWN_CYCLE:
        return "; the disks' media caches fill, and what they clean in the long run is not known"
    if outcome.cycle_requests:
        return (
            f"; the load rises and falls, or disks clean, once in about {outcome.cycle_requests:,} requests, and a run "
            f"must see {MIN_CYCLES} of such cycles: raise search.max_requests_at_answer to "
            f"{outcome.enough_requests:,}, or ask for the highest rate alone"
        )
    return (
        f"; {in_words(outcome.round_requests, is_in_waves=outcome.is_in_waves)}, and a run must see {MIN_ROUNDS} of "
        f"such rounds: raise search.max_requests_at_answer to {outcome.enough_requests:,}"
    )


def _length(trial: Trial) -> str:
    return f"{trial.outcome.n_requests:,} requests" if trial.outcome is not None else "the longest run"


def _infeasible(trier: Trier, nearest: int, capped: str) -> Candidate:
    trial = trier(nearest)
    binding = tightest(trial.criteria)
    is_decided = trial.verdict is Verdict.FAILS
    prefix = "" if is_decided else f"undecided in {_length(trial)}: "
    reason = f"{prefix}with {nearest} disks: {binding}{capped}{_host_limit(trial)}{_rounds(trial)}"
    counted = trier.rule_of_thumb_disks
    return Candidate(
        trier.case.family,
        False,
        trial,
        None,
        binding.name if binding else "",
        binding,
        reason,
        is_decided,
        counted,
        difference_in_words(trier, trial, counted),
        tuple(trier.trials),
        replay_in_words(trier, trial),
    )
