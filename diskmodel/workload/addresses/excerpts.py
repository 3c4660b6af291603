"""Places of the excerpts of a trace, one phase after the other."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from diskmodel.records import Int64
from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.draws import Draws
from diskmodel.workload.space import Space


class ExcerptPlaces(AddressPattern):
    """Requests go where those of the stream's `excerpts` went.

    A region that is shorter than the trace's is used again from its front.
    """

    title: ClassVar[str] = "the places of excerpts of a trace"

    pattern: Literal["excerpts"] = "excerpts"

    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """First byte of each request, relative to the region, moved down to the alignment; int64, shape (n,)."""
        places = draws.required_excerpts.places(len(lengths), draws) % space.span_bytes
        fits: Int64 = np.minimum(places, space.span_bytes - lengths)
        return fits // space.alignment_bytes * space.alignment_bytes
