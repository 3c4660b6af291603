"""Evidence about a drive: measurements, results of fio, request traces."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from calibrate.evidence.cells import (
        Cell,
        Cells,
        Key,
        answered_together,
        cells_of,
        cells_of_fio,
        host_ns_of,
        is_limited_by_host,
        key_of,
        turn_round_ns,
    )
    from calibrate.evidence.files import MEASURED, Evidence, read_evidence, read_jobs
    from calibrate.evidence.flushes import Flushes, find_flushes
    from calibrate.evidence.measurement import DURABLE_WRITE, READ, WRITE, Experiment, Measurement, Run, Samples, load
    from calibrate.evidence.requests import RequestTrace, read_requests

__getattr__ = face(
    __name__,
    {
        "cells": (
            "Cell Cells Key answered_together cells_of cells_of_fio host_ns_of is_limited_by_host key_of turn_round_ns"
        ),
        "files": "Evidence MEASURED read_evidence read_jobs",
        "flushes": "Flushes find_flushes",
        "measurement": "DURABLE_WRITE Experiment Measurement READ Run Samples WRITE load",
        "requests": "RequestTrace read_requests",
    },
)
