"""Evidence files read and sorted by kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from calibrate.evidence.measurement import Measurement, load
from diskmodel.errors import Fault, FormatError, InputError
from diskmodel.formats import FioJob, detect_evidence, read_diskspd, read_fio
from diskmodel.formats.benchmarks.diskspd import KINDS as DISKSPD_RESULTS

#: Kinds of fio results, as `detect_evidence` names them.
FIO_RESULTS = ("fio-json", "fio-terse", "fio-text")
#: Kinds of results of load generators, which are read as fio's jobs.
RESULTS = (*FIO_RESULTS, *DISKSPD_RESULTS)
#: Kinds of evidence that a drive can be fitted to or validated against, beside traces.
MEASURED = ("measurement", *RESULTS)


@dataclass(frozen=True)
class Evidence:
    """Evidence of one drive: measurements and results of fio or DiskSpd, with the files that they come from."""

    paths: tuple[Path, ...]
    kinds: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    jobs: tuple[FioJob, ...]

    @property
    def kernel(self) -> str | None:
        """Return the kernel of the measured host, if the evidence has it."""
        for measurement in self.measurements:
            return str(measurement.host.get("kernel", "")) or None
        return None


def read_evidence(paths: str | Path | Iterable[str | Path]) -> Evidence:
    """Read all evidence in files.

    Raises
    ------
    InputError
        Without a file.
    FormatError
        When a file cannot be read or is neither a measurement nor a result of fio or DiskSpd; the faults of all files
        together.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise InputError(Fault("evidence", None, "is missing", "name a measurement or a result of fio"))
    files = tuple(Path(path) for path in given)
    kinds: list[str] = []
    measurements: list[Measurement] = []
    jobs: list[FioJob] = []
    faults: list[Fault] = []
    for path in files:
        try:
            kind = detect_evidence(path)
            kinds.append(kind)
            if kind == "measurement":
                measurements.append(_with_times(load(path)))
            elif kind in RESULTS:
                jobs.extend(read_jobs(path, kind))
            else:
                rule = f"is {kind}; fitted are measurements and results of fio or DiskSpd"
                faults.append(Fault("evidence", str(path), rule, "leave it out"))
        except FormatError as error:
            faults.extend(Fault(f"{path}: {fault.field}", fault.value, fault.rule, fault.fix) for fault in error.faults)
    if faults:
        raise FormatError(faults)
    return Evidence(files, tuple(kinds), tuple(measurements), tuple(jobs))


def read_jobs(path: Path, kind: str) -> list[FioJob]:
    """Return the jobs of a result of one of the kinds in `RESULTS`."""
    return read_diskspd(path, kind) if kind in DISKSPD_RESULTS else read_fio(path)


def _with_times(measurement: Measurement) -> Measurement:
    """The measurement, refused when no request of it took any time.

    Raises
    ------
    FormatError
        When all of its samples are zero, or it has none.
    """
    if not any(experiment.samples.latency_ns.any() for experiment in measurement.experiments):
        n = sum(len(experiment.samples) for experiment in measurement.experiments)
        rule = f"none of its {n} requests took any time" if n else "has no request"
        raise FormatError(Fault("samples.latency_ns", None, f"{rule}: nothing was measured", "measure again"))
    return measurement
