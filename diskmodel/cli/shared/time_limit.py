"""How long a command may take: it ends by itself, and says what it was doing and how to go on."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import cast

from diskmodel.cli.shared.console import say
from diskmodel.cli.shared.options import parameter_of
from diskmodel.cli.shared.status import TimeLimitReached
from diskmodel.doing import what_is_done
from diskmodel.engine.ledger import QUESTION_S, in_words, question
from diskmodel.errors import DescriptionError, Fault
from diskmodel.options import TIME_LIMIT
from diskmodel.signals import raise_in, set_alarm

#: Longest that can be asked for, s: a year.
_MOST_S = 365 * 86_400


def limited(
    way_out: str, *, is_question: bool = False, budget_s: float = QUESTION_S
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the option --time-limit, and end it when that time is over.

    Parameters
    ----------
    way_out : str
        How to need less time, after "allow more time": "lower --requests".
    is_question : bool
        Whether all that the command simulates has one account of computing time (`diskmodel.engine.ledger`).
    budget_s : float
        Of that account, by counts.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        parameters = list(inspect.signature(command, eval_str=True).parameters.values())
        place = next(at for at, parameter in enumerate(parameters) if parameter.name == "as_json")
        added = parameter_of(TIME_LIMIT)
        parameters = [*parameters[:place], added, *parameters[place:]]
        if parameters[place + 1].kind is not inspect.Parameter.KEYWORD_ONLY:
            parameters[place + 1 :] = [each.replace(kind=added.kind) for each in parameters[place + 1 :]]

        @functools.wraps(command)
        def run(**given: object) -> None:
            asked = given.pop(TIME_LIMIT.key)
            with nullcontext() if asked is None else _ending_after(str(asked), way_out):
                if is_question:
                    _bounded(command, given, budget_s)
                else:
                    command(**given)

        vars(run)["__signature__"] = inspect.Signature(parameters)
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def _bounded(command: Callable[..., None], given: dict[str, object], budget_s: float) -> None:
    """Run a command with one account for its question, and say what that left out, however it ends."""
    from diskmodel.engine import keep_unused_memory  # loads the kernel, which the command does, too

    keep_unused_memory()
    with question(budget_s) as account:
        try:
            command(**given)
        finally:
            if account.left_out:
                say(in_words(account.left_out))


@contextmanager
def _ending_after(limit: str, way_out: str) -> Iterator[None]:
    """Raise `TimeLimitReached` in the block when it takes longer than that; in the main thread, where signals arrive.

    Raises
    ------
    DescriptionError
        When the limit is not a time from a millisecond to a year.
    """
    seconds = _seconds(limit)
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def reached(signum: int, frame: FrameType | None) -> None:
        fix = f"allow more time, or {way_out}"
        raise_in(frame, TimeLimitReached(Fault(TIME_LIMIT.name, limit, f"is over while {what_is_done()}", fix)))

    cancel = set_alarm(seconds, reached)
    try:
        yield
    finally:
        cancel()


def _seconds(limit: str) -> float:
    from diskmodel.units import NS_PER_S, SUFFIXES, parse

    try:
        seconds = float(parse(limit, cast("dict[str, int]", SUFFIXES["_ns"]))) / NS_PER_S
    except (ValueError, OverflowError) as error:
        rule, _, fix = str(error).partition("; ")
        raise DescriptionError(Fault(TIME_LIMIT.name, limit, rule, fix)) from None
    if not 1e-3 <= seconds <= _MOST_S:
        raise DescriptionError(Fault(TIME_LIMIT.name, limit, "must be from 1 ms to 365 d", "write for example 10min"))
    return seconds
