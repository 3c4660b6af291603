"""What hosts ask of an array: descriptions of streams, and the requests drawn from them."""

from typing import TYPE_CHECKING

from diskmodel.naming import face
from diskmodel.workload.addresses import (
    ExcerptPlaces,
    HotSpot,
    ReuseWalk,
    Sequential,
    SortedBatches,
    Strided,
    Uniform,
    Zipf,
    Zone,
    Zoned,
)
from diskmodel.workload.arrivals import Bursts, Closed, ExcerptTimes, Given, Poisson, Profile
from diskmodel.workload.description import Workload
from diskmodel.workload.excerpts import Excerpts
from diskmodel.workload.fit import FittedWorkload, fit_workload
from diskmodel.workload.fitted import Fitted
from diskmodel.workload.programs import log_of_commits, spc1_like
from diskmodel.workload.stream import SizeShare, Stream
from diskmodel.workload.trace import TraceWorkload

if TYPE_CHECKING:
    from diskmodel.workload.addresses import ZoneWrite
    from diskmodel.workload.blocks import Block, Blocks
    from diskmodel.workload.condense import represent, stream_of
    from diskmodel.workload.description import LARGE_BYTES
    from diskmodel.workload.excerpts import MAX_CYCLE
    from diskmodel.workload.features import Features
    from diskmodel.workload.fit import lost_features
    from diskmodel.workload.fitted import FittedLatency
    from diskmodel.workload.generate import interleave, rules_of
    from diskmodel.workload.issued import Streams
    from diskmodel.workload.part import part_of
    from diskmodel.workload.programs import AWAITED, METADATA, uploads
    from diskmodel.workload.space import Space
    from diskmodel.workload.stream import LOG_BLOCK_BYTES
    from diskmodel.workload.trace import COARSE_CLOCK_NS, Timing
    from diskmodel.workload.used import check_used, on_used, reach_bytes

__getattr__ = face(
    __name__,
    {
        "addresses": "ZoneWrite",
        "blocks": "Block Blocks",
        "condense": "represent stream_of",
        "description": "LARGE_BYTES",
        "excerpts": "MAX_CYCLE",
        "features": "Features",
        "fit": "lost_features",
        "fitted": "FittedLatency",
        "generate": "interleave rules_of",
        "issued": "Streams",
        "part": "part_of",
        "programs": "AWAITED METADATA uploads",
        "space": "Space",
        "stream": "LOG_BLOCK_BYTES",
        "trace": "COARSE_CLOCK_NS Timing",
        "used": "check_used on_used reach_bytes",
    },
)
