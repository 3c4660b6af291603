"""Other programs' files: results of fio, samples of sysstat, block traces, facts about drives; readers and writers."""

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

__all__ = [
    "DeviceLoad",
    "DriveFacts",
    "FioDirection",
    "FioJob",
    "FioLatency",
    "FoundWorkload",
    "LatencyLog",
    "LineError",
    "Trace",
    "TraceChunk",
    "TraceReader",
    "detect",
    "detect_evidence",
    "find_workload",
    "flush_fault",
    "job_of_prediction",
    "load_trace",
    "load_workload",
    "read_diskspd",
    "read_drive_facts",
    "read_fio",
    "read_latency_log",
    "read_sysstat",
    "read_trace",
    "write_fio_json",
    "write_trace",
]
