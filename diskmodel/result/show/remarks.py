"""What to know of an answer beside its figures: the few remarks that change a decision most, the rest when asked for.

What was given and has no effect is always said: who gives an option and reads nothing of it takes it for answered.

A remark has a kind, one of `KINDS`. Every command takes what it shows from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

#: Kinds of remarks and what they are about, the one that changes a decision most first.
KINDS = {
    "unread": "what was given and has no effect",
    "cut": "runs that were ended early",
    "unless": "what the question left open, and with the other answer takes more disks",
    "reserve": "an array that a little more load may overload",
    "wear": "how long the drives last",
    "loss": "data at risk: in caches, or while a disk is rebuilt",
    "assumed": "what the question left open, with the other answer",
    "doubt": "what is not known of this array, so that its figures may not hold",
    "limit": "what the host, md or a controller does to the figures",
    "width": "by how much one of ten is worse, and why",
    "rule": "the rule of thumb, and why it differs",
    "reading": "how to read the figures",
    "systems": "systems that do not do what their parts can",
    "run": "the noise of the run",
}
#: Kinds of which all remarks are shown, beside those that change most.
_ALWAYS = ("unread",)
#: Remarks under an answer. With more, nobody reads them; with fewer, a rebuild of weeks hides an assumption.
MOST = 3


class Remark(NamedTuple):
    """What to know of an answer.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    text : str
    """

    kind: str
    text: str


def few(remarks: Iterable[Remark], *, is_explained: bool = False) -> list[str]:
    """Return the remarks that change most, and how many more there are; all of them when they were asked for.

    Those of what has no effect come first and are not among the few.

    Parameters
    ----------
    remarks : iterable of Remark
    is_explained : bool
        Whether `--explain` asked for all.

    Examples
    --------
    >>> few([Remark("rule", "a"), Remark("wear", "b"), Remark("cut", "c"), Remark("run", "d")])
    ['c', 'b', 'a', '1 more remark with --explain.']
    """
    order = list(KINDS)
    said = [one for one in sorted(dict.fromkeys(remarks), key=lambda one: order.index(one.kind)) if one.text]
    found = [one.text for one in said]
    most = MOST + sum(one.kind in _ALWAYS for one in said)
    if is_explained or len(found) <= most:
        return found
    n_more = len(found) - most
    return [*found[:most], f"{n_more} more remark{'s' if n_more > 1 else ''} with --explain."]
