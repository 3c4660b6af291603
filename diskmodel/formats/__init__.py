"""Other programs' files: results of fio, samples of sysstat, block traces, facts about drives; readers and writers."""

from typing import TYPE_CHECKING

from diskmodel.formats.benchmarks.diskspd import read_diskspd
from diskmodel.formats.detect import detect_evidence
from diskmodel.formats.device_load import DeviceLoad
from diskmodel.formats.faults import LineError
from diskmodel.formats.fio.job import FioDirection, FioJob, FioLatency
from diskmodel.formats.fio.latency_log import LatencyLog, read_latency_log
from diskmodel.formats.fio.reader import read_fio
from diskmodel.formats.fio.write import job_of_prediction, write_fio_json
from diskmodel.formats.hardware import DriveFacts, read_drive_facts
from diskmodel.formats.sysstat import read_sysstat
from diskmodel.formats.trace.columns import TraceChunk
from diskmodel.formats.trace.reader import Trace, TraceReader, detect, load_trace, read_trace
from diskmodel.formats.trace.writers import write_trace
from diskmodel.formats.workloads.find import find_workload, load_workload
from diskmodel.formats.workloads.found import FoundWorkload, flush_fault
from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.formats.arrays.reading import Described, read_described
    from diskmodel.formats.detect import check_kind
    from diskmodel.formats.device_load import SERIES
    from diskmodel.formats.faults import shorten
    from diskmodel.formats.fio.workload import fio_workload
    from diskmodel.formats.latencies import read_latencies
    from diskmodel.formats.level import Level
    from diskmodel.formats.opening import read_document, read_head
    from diskmodel.formats.pools import READERS, ArcFacts, Pool, arc_of_texts
    from diskmodel.formats.pools.array import pool_array, pool_words, scanned_disk, short_fields
    from diskmodel.formats.replaying import load_replay
    from diskmodel.formats.time_classes import quantile_ns
    from diskmodel.formats.workloads.devices import chosen_devices
    from diskmodel.formats.workloads.recording import from_recording

__getattr__ = face(
    __name__,
    {
        "arrays.reading": "Described read_described",
        "detect": "check_kind",
        "device_load": "SERIES",
        "faults": "shorten",
        "fio.workload": "fio_workload",
        "latencies": "read_latencies",
        "level": "Level",
        "opening": "read_document read_head",
        "pools": "ArcFacts Pool READERS arc_of_texts",
        "pools.array": "pool_array pool_words scanned_disk short_fields",
        "replaying": "load_replay",
        "time_classes": "quantile_ns",
        "workloads.devices": "chosen_devices",
        "workloads.recording": "from_recording",
    },
)
