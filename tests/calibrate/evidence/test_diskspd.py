"""Results of DiskSpd are evidence as fio's are: the same figures give the same conditions."""

from pathlib import Path

import pytest

from calibrate.evidence.cells import cells_of_fio
from calibrate.evidence.files import read_evidence
from calibrate.hdd.from_fio.conditions import conditions_of
from calibrate.score.against_measurement import repeat
from diskmodel.drive import load_drive
from diskmodel.formats import FioJob, read_fio
from tests.unit.cli.commands import refusal

DEPTHS = Path(__file__).parents[3] / "examples" / "measured" / "depths.json"
SPAN = """  <TimeSpan><TestTimeSeconds>{seconds}</TestTimeSeconds><ThreadCount>1</ThreadCount>
    <Latency><AverageReadMilliseconds>{mean:.6f}</AverageReadMilliseconds>{buckets}</Latency>
    <Thread><Target><ReadCount>{count}</ReadCount><ReadBytes>{n_bytes}</ReadBytes></Target></Thread></TimeSpan>
"""
BUCKET = "<Bucket><Percentile>{}</Percentile><ReadMilliseconds>{:.6f}</ReadMilliseconds></Bucket>"
ASKED = """    <TimeSpan><Targets><Target><Path>test.dat</Path><BlockSize>{block}</BlockSize><WriteRatio>0</WriteRatio>
      <RequestCount>{depth}</RequestCount><Random>{block}</Random><DisableOSCache>true</DisableOSCache>
      <FileSize>{size}</FileSize></Target></Targets></TimeSpan>
"""


def as_diskspd(jobs: list[FioJob]) -> str:
    """Random reads as DiskSpd -L -Rxml would have written them, each in a time span of its own."""
    asked, done = "", ""
    for job in jobs:
        read = job.directions["read"]
        latency = read.clat or read.lat
        assert latency is not None
        assert read.n_ios is not None
        size = 2**30
        asked += ASKED.format(block=int(job.block_bytes["read"]), depth=job.outstanding, size=size)
        seconds = read.n_ios / read.iops
        buckets = "".join(BUCKET.format(percent, ns / 1e6) for percent, ns in latency.percentiles.items())
        n_bytes = round(read.n_ios * job.block_bytes["read"])
        mean = (read.response_ns or latency.mean_ns) / 1e6
        done += SPAN.format(seconds=seconds, mean=mean, buckets=buckets, count=read.n_ios, n_bytes=n_bytes)
    tool = "<System><Tool><Version>2.1</Version></Tool></System>"
    return f"<Results>{tool}\n  <Profile><TimeSpans>\n{asked}  </TimeSpans></Profile>\n{done}</Results>\n"


@pytest.fixture(scope="module")
def jobs() -> list[FioJob]:
    found = [job for job in read_fio(DEPTHS) if job.pattern == "randread"]
    assert len(found) >= 3
    return found


@pytest.fixture(scope="module")
def result(jobs: list[FioJob], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("diskspd") / "result.xml"
    path.write_text(as_diskspd(jobs))
    return path


def test_the_same_figures_give_the_same_conditions(jobs: list[FioJob], result: Path) -> None:
    evidence = read_evidence(result)
    assert evidence.kinds == ("diskspd-xml",)
    theirs, ours = conditions_of(evidence.jobs, ()), conditions_of(jobs, ())
    assert [(found.op, found.depth) for found in theirs] == [(found.op, found.depth) for found in ours]
    for found, expected in zip(theirs, ours, strict=True):
        assert found.iops == pytest.approx(expected.iops, rel=1e-3)
        assert found.percentiles_ns == pytest.approx(dict(expected.percentiles_ns), rel=1e-3)
    assert cells_of_fio(evidence.jobs).keys() == cells_of_fio(jobs).keys()


def test_a_drive_is_compared_with_it(result: Path, jobs: list[FioJob]) -> None:
    found = repeat(load_drive("generic-10k"), [result])
    assert [row["measured_mean_ms"] for row in found["conditions"]] == pytest.approx(
        [(job.directions["read"].response_ns or 0) / 1e6 for job in jobs], rel=1e-3
    )


def test_a_recording_is_refused_and_diskspd_named(tmp_path: Path) -> None:
    path = tmp_path / "iostat.txt"
    path.write_text((DEPTHS.parent / "iostat.txt").read_text())
    assert "DiskSpd (text, XML)" in refusal("calibrate", path, "--out", tmp_path / "drive.toml")
