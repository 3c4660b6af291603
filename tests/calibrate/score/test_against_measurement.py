"""A drive against evidence that it would have given itself, and against that of another one."""

import json
from pathlib import Path

import pytest

from calibrate.score.against_measurement import repeat
from diskmodel.array import Array
from diskmodel.drive import catalogue
from diskmodel.engine.simulate import simulate
from diskmodel.errors import InputError
from diskmodel.formats.fio.write import job_of_prediction, write_fio_json
from diskmodel.workload import Workload
from tests.unit.cli.commands import answer

DEPTH = 8
#: Of a mean that comes from some thousand correlated requests.
TOLERANCE = 0.06


@pytest.fixture(scope="module", params=["randread", "randrw"])
def evidence(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What fio would have said of Generic 10k rpm SAS."""
    share = 1.0 if request.param == "randread" else 0.7
    workload = Workload.parse({"size": "4 KiB", "read_ratio": share, "clients": DEPTH})
    array = Array.parse({"drive": "generic-10k", "layout": {"level": "jbod", "disks": 1}})
    prediction = simulate(array, workload, seed=3, n_requests=20_000).to_dict()
    for part, own in (("reads", share), ("writes", 1 - share)):
        prediction[part]["iops"] = prediction["iops"] * own
    job = job_of_prediction(
        {key: value for key, value in prediction.items() if key in ("iops", "latency_ms")}
        | ({key: prediction[key] for key in ("reads", "writes")} if share < 1 else {}),
        name="mine",
        pattern=request.param,
        block_bytes=4096,
        depth=DEPTH,
        read_fraction=share,
        duration_s=60.0,
    )
    path = tmp_path_factory.mktemp("fio") / "result.json"
    write_fio_json(path, [job])
    return path


def test_its_own_evidence(evidence: Path) -> None:
    found = repeat(catalogue()["generic-10k"], [evidence], seed=11)
    assert abs(found["mean_error_ratio"]) < TOLERANCE
    for condition in found["conditions"]:
        assert abs(condition["mean_error_ratio"]) < TOLERANCE
        assert condition["demerit_ratio"] < 0.2


def test_another_drive_is_distinguished(evidence: Path) -> None:
    slow, fast = (repeat(catalogue()[name], [evidence], seed=11) for name in ("generic-5k4", "generic-15k"))
    assert slow["mean_error_ratio"] > 2 * TOLERANCE
    assert fast["mean_error_ratio"] < -2 * TOLERANCE


def test_keys_of_the_command(evidence: Path) -> None:
    found = answer("validate", "generic-10k", evidence)
    keys = {"n", "measured_mean_ms", "predicted_mean_ms", "mean_error_ratio", "demerit_ms", "demerit_ratio", "mae_ms"}
    assert {*keys, "correlation", "reads", "writes", "conditions"} <= set(found)
    assert keys <= set(found["reads"])
    assert found["n"] == found["reads"]["n"] + found["writes"]["n"]


def test_every_group_of_a_result_is_compared() -> None:
    path = Path(__file__).parents[3] / "examples" / "measured" / "depths.json"
    jobs = json.loads(path.read_text())["jobs"]
    found = repeat(catalogue()["intel-x25-e-64"], [path])
    assert [row["what"] for row in found["conditions"]] == [f"reads of depths.json, {job['jobname']}" for job in jobs]
    assert found["n"] == sum(job["read"]["total_ios"] for job in jobs)
    means = [row["predicted_mean_ms"] for row in found["conditions"] if "sequential" not in row["what"]]
    assert means == sorted(means)
    assert means[-1] > 2 * means[0]


def test_a_job_without_a_result_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[a]\nrw=randread\nbs=4k\n")
    with pytest.raises(InputError, match="fio-job"):
        repeat(catalogue()["generic-10k"], [path])
