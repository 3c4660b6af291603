"""`diskmodel plan --cluster`: the same answer from a cluster, and one clear line where there is none."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.commands import process, run

QUESTION = ["plan", "--iops", "300", "--reads", "70%", "--block", "8k", "--capacity", "1TB", "--p99", "60ms"]
QUESTION += ["--drive", "generic-15k", "--level", "raid10", "--level", "raid5", "--max-disks", "12"]


@pytest.fixture
def port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture
def scheduler(port: int) -> Iterator[subprocess.Popen[bytes]]:
    options = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    with _dask("scheduler", *options) as started:
        _wait_for(port)
        yield started
        started.kill()


def _dask(program: str, *options: str, is_without_us: bool = False) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *options]
    if is_without_us:
        blocked = (
            f"import sys; sys.modules['diskmodel'] = None; from distributed.cli.dask_{program} import main; main()"
        )
        command[1:3] = ["-c", blocked]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _wait_for(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the scheduler does not listen")


def test_an_address_that_cannot_be_one_is_one_line() -> None:
    ended = run(*QUESTION, "--cluster", "somewhere")
    assert ended.exit_code == 2
    assert ended.stderr.count("error:") == 1
    assert "--cluster='somewhere': is not the address of a scheduler that answers" in ended.stderr


@pytest.mark.slow
def test_a_plan_on_a_cluster_is_the_same_plan(port: int, scheduler: subprocess.Popen[bytes], tmp_path: Path) -> None:
    asked = (*QUESTION, "--cluster", f"tcp://127.0.0.1:{port}")
    idle = process(*asked)
    assert idle.returncode == 2
    assert "is a scheduler without workers; start some" in idle.stderr
    options = ["--no-dashboard", "--nthreads", "1", "--local-directory", str(tmp_path)]
    with _dask("worker", f"tcp://127.0.0.1:{port}", *options) as worker:
        while "without workers" in (there := process(*asked, "--memory", "first", "--json", cwd=tmp_path)).stderr:
            time.sleep(0.2)
        assert json.loads(there.stdout) == json.loads(run(*QUESTION, "--json").stdout)
        assert len((tmp_path / "first").read_text().splitlines()) > 5
        _the_scheduler_dies(asked, scheduler, tmp_path)
        worker.kill()


def _the_scheduler_dies(asked: tuple[str, ...], scheduler: subprocess.Popen[bytes], folder: Path) -> None:
    memory = folder / "second"
    command = [sys.executable, "-m", "diskmodel", *asked, "--memory", str(memory), "--sensitivity"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as asking:
        while asking.poll() is None and not memory.exists():
            time.sleep(0.01)
        scheduler.kill()
        _, errors = asking.communicate(timeout=120)
    assert asking.returncode == 2
    assert errors.splitlines()[-1].startswith("error: --cluster=")
    assert "closed before the plan was answered" in errors
    assert "Traceback" not in errors


@pytest.mark.slow
@pytest.mark.parametrize("member", ["scheduler", "worker"])
def test_a_machine_of_the_cluster_without_diskmodel_is_named(port: int, tmp_path: Path, member: str) -> None:
    address = f"tcp://127.0.0.1:{port}"
    of_scheduler = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    of_worker = [address, "--no-dashboard", "--no-nanny", "--nthreads", "1", "--local-directory", str(tmp_path)]
    with _dask("scheduler", *of_scheduler, is_without_us=member == "scheduler") as scheduler:
        _wait_for(port)
        with _dask("worker", *of_worker, is_without_us=member == "worker") as worker:
            while "without workers" in (ended := process(*QUESTION, "--cluster", address)).stderr:
                time.sleep(0.2)
            worker.kill()
        scheduler.kill()
    assert ended.returncode == 2
    assert f"has {'a scheduler' if member == 'scheduler' else 'worker tcp://'}" in ended.stderr
    assert "with no diskmodel; install diskmodel" in ended.stderr
