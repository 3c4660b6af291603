"""How a plan is searched: with progress, a file that keeps outcomes, and on a cluster where one is named."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

from diskmodel.cli.shared.console import progress
from diskmodel.doing import doing
from diskmodel.errors import DescriptionError, Fault, visible
from diskmodel.version import __version__

#: Seconds that a scheduler has to answer; Dask's own default is 30, too long to wait for a mistyped address.
CONNECT_TIMEOUT_S = 10


@contextmanager
def searching(memory: Path | None, cluster: str | None) -> Iterator[dict[str, Any]]:
    """Yield options of `run_plan`: progress on standard error, the file of outcomes, and the workers.

    Parameters
    ----------
    memory : Path, optional
    cluster : str, optional
        Address of a Dask scheduler; without one this machine searches.

    Raises
    ------
    DescriptionError
        As `executor_of`.
    """
    with (
        nullcontext() if cluster is None else executor_of(cluster) as executor,
        progress() as bar,
        doing("searching") as now,
    ):
        bar.add_task("searching", total=None)

        def show_bar(words: str, done: int = 0, total: int | None = None) -> None:
            # a bar that was full stays so, and its clock stands: each part has its own
            for old in bar.task_ids if total is None or done == 1 else ():
                bar.remove_task(old)
            task = bar.task_ids[0] if bar.task_ids else bar.add_task(words, total=total)
            bar.update(task, completed=done, total=total, description=visible(words))

        def show_progress(done: int, total: int, candidate: Any) -> None:
            disks = f"{candidate.disks} disks" if candidate.disks else candidate.state
            searched = f"searching, with {done} of {total} combinations of a drive and a level done"
            now(searched if done < total else "checking what the search found")
            show_bar(f"{candidate.family}: {disks}", done, total)

        def show_so_far(candidate: Any, still_open: str) -> None:
            known = "no array" if candidate is None else candidate.in_words
            now(f"looking at {still_open}, with {known} so far")
            show_bar(f"so far: {known}\nopen: {still_open}")

        # Workers on other machines have working directories of their own.
        place = memory if memory is None or cluster is None else memory.resolve()
        yield {"progress": show_progress, "so_far": show_so_far, "memory": place, "executor": executor}


@contextmanager
def executor_of(address: str) -> Iterator[Executor]:
    """Connect to a Dask scheduler and yield an executor that works on its workers.

    Parameters
    ----------
    address : str
        For example "tcp://10.0.0.5:8786".

    Raises
    ------
    DescriptionError
        When Dask is not installed, nothing answers at `address`, no worker is there, a worker has another version of
        diskmodel, or the scheduler closes before the work is done.
    """
    try:
        from distributed import Client
    except ImportError:
        raise _error(address, "needs the package distributed", "pip install 'diskmodel[cluster]'") from None
    # These log tracebacks of what is reported here in one line.
    for name in ("distributed.client", "distributed.comm", "distributed.core", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=CONNECT_TIMEOUT_S)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise _error(address, f"is not the address of a scheduler that answers ({error})", "check it") from None
    with client:
        try:
            _check_workers(client, address)
            # all load what a plan needs at once, also those for which there is no work yet
            client.run(_load, wait=False)
            # looking whether the same was asked before costs as much as sending it
            yield client.get_executor(pure=False)  # type: ignore[no-untyped-call]
        except (CancelledError, OSError) as error:
            # OSError includes Dask's closed connections, but also the files of this machine.
            if isinstance(error, OSError) and client.status == "running":
                raise
            rule = "is a scheduler that closed before the plan was answered"
            fix = "start it again; with --memory FILE the search continues where it stopped"
            raise _error(address, rule, fix) from None


def _check_workers(client: Any, address: str) -> None:
    # without diskmodel a machine cannot read this question either
    versions = client.run(_version, on_error="return")
    if not versions:
        raise _error(address, "is a scheduler without workers", f"start some: dask worker {address}")
    members = {f"worker {worker}": version for worker, version in versions.items()}
    try:
        members["a scheduler"] = client.run_on_scheduler(_version)
    except ImportError as error:  # it looks into what it hands out
        members["a scheduler"] = error
    for member, version in members.items():
        if version != __version__:
            rule = f"has {member} with {f'diskmodel {version}' if isinstance(version, str) else 'no diskmodel'}"
            raise _error(address, rule, f"install diskmodel {__version__} there")


def _version() -> str:
    """Return the version of diskmodel that a machine has."""
    return __version__


async def _load() -> None:
    """Load what a worker needs for a plan."""
    import_module("diskmodel.plan")


def _error(address: str, rule: str, fix: str) -> DescriptionError:
    return DescriptionError(Fault("--cluster", address, rule, fix))
