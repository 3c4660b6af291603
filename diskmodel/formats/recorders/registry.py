"""The recordings by name, and which one a text is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from diskmodel.formats.device_load import DeviceLoad, loads_of
from diskmodel.formats.faults import file_error
from diskmodel.formats.opening import read_document
from diskmodel.formats.programs import Program, by_kind, kind_among
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

RECORDERS: dict[str, Program[Recording]] = by_kind(
    Program("esxtop", "esxtop's batch output", pdh.is_esxtop, pdh.read_esxtop),
    Program("perfmon", "a log of Windows' performance counters", pdh.is_perfmon, pdh.read_perfmon),
    Program("node-exporter", "output of node_exporter", prometheus.is_exposition, prometheus.read_exposition),
    Program("prometheus", "an answer of Prometheus to a query", prometheus.is_answer, prometheus.read_answer),
    Program("cloudwatch", "statistics of CloudWatch", cloudwatch.is_statistics, cloudwatch.read_statistics),
    Program("nfsiostat", "output of nfsiostat", nfsiostat.is_nfsiostat, nfsiostat.read_nfsiostat),
    Program("vmstat-d", "output of vmstat -d", vmstat.is_vmstat_d, vmstat.read_vmstat_d),
    Program(
        "zpool-histograms",
        "output of zpool iostat -r",
        zpool_histograms.is_histograms,
        zpool_histograms.read_histograms,
    ),
    Program("zpool-iostat", "output of zpool iostat", zpool.is_zpool_iostat, zpool.read_zpool_iostat),
    Program("elbencho-live", "elbencho's live statistics", elbencho_live.is_live_csv, elbencho_live.read_live_csv),
)

KINDS = tuple(RECORDERS)


def kind_of(text: str) -> str | None:
    """Which of the recordings a text is, or None."""
    return kind_among(RECORDERS, text)


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
