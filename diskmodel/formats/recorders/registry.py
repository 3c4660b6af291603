"""The recordings by name, and which one a text is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from diskmodel.formats.device_load import DeviceLoad, loads_of
from diskmodel.formats.faults import file_error
from diskmodel.formats.opening import read_document
from diskmodel.formats.recorders import (
    cloudwatch,
    elbencho_live,
    nfsiostat,
    pdh,
    prometheus,
    vmstat,
    zpool,
    zpool_histograms,
)
from diskmodel.formats.sysstat.tables import Recording


@dataclass(frozen=True)
class Recorder:
    """One format.

    Attributes
    ----------
    kind : str
    what : str
        What a file of it is, in words that follow "is".
    looks_like : callable
        Whether a text is one.
    read : callable
        Takes the text and the file's name.
    """

    kind: str
    what: str
    looks_like: Callable[[str], bool]
    read: Callable[[str, str], Recording]


#: By kind; a text that two take is the earlier's.
RECORDERS: dict[str, Recorder] = {
    recorder.kind: recorder
    for recorder in (
        Recorder("esxtop", "esxtop's batch output", pdh.is_esxtop, pdh.read_esxtop),
        Recorder("perfmon", "a log of Windows' performance counters", pdh.is_perfmon, pdh.read_perfmon),
        Recorder("node-exporter", "output of node_exporter", prometheus.is_exposition, prometheus.read_exposition),
        Recorder("prometheus", "an answer of Prometheus to a query", prometheus.is_answer, prometheus.read_answer),
        Recorder("cloudwatch", "statistics of CloudWatch", cloudwatch.is_statistics, cloudwatch.read_statistics),
        Recorder("nfsiostat", "output of nfsiostat", nfsiostat.is_nfsiostat, nfsiostat.read_nfsiostat),
        Recorder("vmstat-d", "output of vmstat -d", vmstat.is_vmstat_d, vmstat.read_vmstat_d),
        Recorder(
            "zpool-histograms",
            "output of zpool iostat -r",
            zpool_histograms.is_histograms,
            zpool_histograms.read_histograms,
        ),
        Recorder("zpool-iostat", "output of zpool iostat", zpool.is_zpool_iostat, zpool.read_zpool_iostat),
        Recorder("elbencho-live", "elbencho's live statistics", elbencho_live.is_live_csv, elbencho_live.read_live_csv),
    )
}

KINDS = tuple(RECORDERS)


def kind_of(text: str) -> str | None:
    """Which of the recordings a text is, or None."""
    return next((kind for kind, recorder in RECORDERS.items() if recorder.looks_like(text)), None)


def read_recording(path: str | Path, kind: str) -> list[DeviceLoad]:
    """Return the loads by device of a recording, plain or compressed.

    Raises
    ------
    FormatError
        When the file cannot be read, is malformed, or holds no sample of a device.
    """
    return loads_of_text(read_document(path), str(path), kind)


def loads_of_text(text: str, source: str, kind: str) -> list[DeviceLoad]:
    """As `read_recording`, for text already in memory."""
    recorder = RECORDERS[kind]
    found = recorder.read(text.replace("\r\n", "\n"), source)
    loads = loads_of(found.samples, found.interval_s, found.notes)
    if not loads:
        raise file_error(source, f"is {recorder.what} without a sample of a device", "let the recording run for longer")
    return [
        replace(load, sizes=found.sizes.get(load.device, {}), responses=found.responses.get(load.device, {}))
        for load in loads
    ]
