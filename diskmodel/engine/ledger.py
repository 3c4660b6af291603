"""What a question may take: one account of computing time for all of its runs, whatever they are made for.

Each run enters what it has cost, by counts and not by a clock, so that the same question has the same answer on every
machine. A run may take a part of what is left, so that the sum hardly exceeds the whole, however many there are. What
is made at the same time has a part each, fixed before it begins: which of them ends first does not matter.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, ParamSpec, TypeVar

from diskmodel.loading import dataclass

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

#: Computing time of a question by counts, seconds. With programs to load and texts to write it is within 20 s of a
#: processor. At half, plans of many families have shorter runs; at double, a question takes up to 40 s.
QUESTION_S = 15.0
#: The same of an explanation, whose many short runs take less than the counts say: 18 s of a processor at worst. At
#: 15 s, 33 of 72 cases left out runs with causes, the right one among them; at 28 s, some take 24.
EXPLANATION_S = 21.0
#: Into how many parts what is left is divided: a run that others may follow takes one of them. At half, the fourth of
#: several long runs is a tenth as long as the first; at double, the first is half as long as it might be.
AHEAD = 4
#: The same of runs of which all that are made in turn are made at the same time.
_AT_ONCE_AHEAD = 2
#: How many times its even share one of many families may take. At one, a single difficult one is cut short beside
#: many simple ones; at ten, the first difficult ones leave little to the others.
_GENEROUS = 3
#: What a run may take in any case, seconds: 12,000 requests of one command each. At half, the last runs of a long
#: question say little; at double, two hundred that come too late take eight seconds more than there are.
_LEAST_S = 0.02
#: Part of the whole that has to be left for what is not the answer itself. At half, extras shorten the runs that
#: follow; at double, they are left out of questions that would have had time for them.
LEAST_LEFT = 0.1
#: What statistics of a run take beside the kernel: a request, and a run, seconds.
_ROW_S, _RUN_S = 0.6e-6, 4e-3


class Account:
    """The computing time of a question, or of a part of it; threads may share it.

    Parameters
    ----------
    budget_s : float
        By counts; infinite where nothing limits it.
    n_ahead : int
        Parts into which what is left is divided: a run takes one.
    whole : Account, optional
        Of which this is a part: both note together what was left out, and what it has entered once is known here.
    """

    def __init__(self, budget_s: float, n_ahead: int = AHEAD, whole: Account | None = None) -> None:
        self.budget_s, self.n_ahead = budget_s, n_ahead
        self._spent_s = self._last_run_s = 0.0
        self._lock = threading.Lock()
        self._left_out: dict[str, None] = {} if whole is None else whole._left_out
        # a copy, so that of parts that are used at the same time none depends on which of them is the first
        self._entered: set[Hashable] = set() if whole is None else set(whole._entered)
        self._costs: dict[Hashable, Any] = {} if whole is None else dict(whole._costs)

    @property
    def spent_s(self) -> float:
        """Computing time so far, seconds, by counts."""
        return self._spent_s

    @property
    def last_run_s(self) -> float:
        """Computing time of the run that was entered last, without what it began with."""
        return self._last_run_s

    @property
    def left_s(self) -> float:
        """Computing time that is left, seconds."""
        return max(self.budget_s - self._spent_s, 0.0)

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self._spent_s >= self.budget_s

    @property
    def left_out(self) -> tuple[str, ...]:
        """What was left out, in words, in the order in which it was."""
        return tuple(self._left_out)

    def allowed_s(self, usual_s: float, n_ahead: int | None = None) -> float:
        """Return what the next run may take that usually takes up to `usual_s`, where so many may follow."""
        return min(usual_s, max(self.left_s / (n_ahead or self.n_ahead), _LEAST_S))

    def enlarge(self, seconds: float) -> None:
        """Give a question that is several at once more time."""
        with self._lock:
            self.budget_s += seconds

    def enter(self, seconds: float) -> None:
        """Enter what something has cost."""
        with self._lock:
            self._spent_s += seconds

    def enter_once(self, what: Hashable, seconds: float) -> None:
        """Enter what something has cost that is kept for the question: however often it is asked for, once."""
        with self._lock:
            if what not in self._entered:
                self._entered.add(what)
                self._spent_s += seconds

    def cost_like(self, kind: Hashable) -> Any:
        """Return what a request was seen to cost of something of this kind; None where nothing was looked at."""
        return self._costs.get(kind)

    def note_cost(self, kind: Hashable, cost: object) -> None:
        """Keep what a request was seen to cost of something of this kind, for further runs of the question."""
        if math.isfinite(self.budget_s):
            self._costs[kind] = cost

    def enter_run(self, kernel_s: float, n_requests: int) -> None:
        """Enter a run of so many requests, with its statistics."""
        self._last_run_s = kernel_s + _ROW_S * n_requests + _RUN_S
        self.enter(self._last_run_s)

    def leave_out(self, words: Iterable[str]) -> None:
        """Note that this was left out."""
        self._left_out.update(dict.fromkeys(words))

    def has_time_for(self, extra: str) -> bool:
        """Return whether something beside the answer may be simulated; where not, it is left out by these words."""
        if self.left_s >= LEAST_LEFT * self.budget_s:
            return True
        self.leave_out([extra])
        return False

    def part(self, ratio: float) -> Account:
        """Return an account of so much of what is left."""
        return Account(ratio * self.left_s, self.n_ahead, self)

    def parts(self, n: int, n_left: int | None = None, *, are_runs: bool = False) -> list[Account]:
        """Return an account for each of `n` things that are made at the same time.

        Parameters
        ----------
        n : int
        n_left : int, optional
            Things that are still to be made with what is left, these included; default: `n`.
        are_runs : bool
            Whether each is one run, and not many in turn.
        """
        if are_runs:
            return [Account(self.left_s / _AT_ONCE_AHEAD / n, 1, self) for _ in range(n)]
        # most take less than their parts; those that are made together must not take more than there is
        share_s = min(1 / n, _GENEROUS / (n_left or n)) * self.left_s
        return [Account(share_s, self.n_ahead, self) for _ in range(n)]

    def settle(self, parts: Sequence[Account]) -> None:
        """Enter what parts have taken, when all are done."""
        for part in parts:
            self.enter(part.spent_s)
            with self._lock:
                self._entered |= part._entered


#: Of runs of which somebody says how long they are.
NO_LIMIT = Account(float("inf"))
_current: ContextVar[Account] = ContextVar("account of computing time", default=NO_LIMIT)


def current() -> Account:
    """Return the account of the question that this thread works on; one without limit where there is none."""
    return _current.get()


@contextmanager
def question(budget_s: float = QUESTION_S) -> Iterator[Account]:
    """Open an account for what the block does, unless it is part of a question that has one."""
    account = _current.get()
    if account is not NO_LIMIT:
        yield account
        return
    account = Account(budget_s)
    with on_account(account):
        yield account


def as_question(function: Callable[P, T]) -> Callable[P, T]:
    """Give a function that answers a question an account for all that it simulates, as `question` does."""

    @functools.wraps(function)
    def answered(*args: P.args, **kwargs: P.kwargs) -> T:
        with question():
            return function(*args, **kwargs)

    return answered


@contextmanager
def on_account(account: Account) -> Iterator[None]:
    """Let the runs of the block, in this thread, enter their cost in an account."""
    token = _current.set(account)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def with_part(ratio: float) -> Iterator[None]:
    """Let the block take so much of what is left at most, so that what comes after it has its time, too."""
    account = current()
    part = account.part(ratio)
    with on_account(part):
        yield
    account.settle([part])


def on(account: Account, work: Callable[..., T]) -> Callable[..., T]:
    """Return work whose runs enter their cost in an account, in whichever thread it is done."""

    def done(*args: object) -> T:
        with on_account(account):
            return work(*args)

    return done


@dataclass(frozen=True)
class Done(Generic[T_co]):
    """What work elsewhere returned, and what it took of its account.

    Attributes
    ----------
    result : object
    spent_s : float
    left_out : tuple of str
    """

    result: T_co
    spent_s: float
    left_out: tuple[str, ...]

    def settled(self, account: Account) -> T_co:
        """Return the result, and enter in the account of this question what it took."""
        account.enter(self.spent_s)
        account.leave_out(self.left_out)
        return self.result


def elsewhere(budget_s: float, n_ahead: int, work: Callable[..., T], *args: object) -> Done[T]:
    """Return what work makes of its arguments with an account of its own: in another thread, process or machine."""
    account = Account(budget_s, n_ahead)
    with on_account(account):
        result = work(*args)
    return Done(result, account.spent_s, account.left_out)


def in_words(left_out: Sequence[str]) -> str:
    """Return what was left out as a sentence."""
    return f"left out, since the question has used what one may take of computing time: {', '.join(left_out)}"
