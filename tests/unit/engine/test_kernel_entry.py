"""What the kernel's own entry refuses, in which words, and what becomes of a panic behind it."""

from __future__ import annotations

import pickle
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine import _kernel, native
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.errors import CoverageError, KernelError
from diskmodel.records import Requests, StreamRule
from diskmodel.schema import to_kernel
from diskmodel.workload import Workload
from tests.fuzz import kernel_calls

Change = Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], Any]


@pytest.fixture(scope="module")
def call() -> bytes:
    """A call of `run`: a rebuild of one of four disks in pairs, behind a cache, for 20 requests of one client."""
    controller = {"read_cache": {"size": "1 MiB"}, "write_cache": {"size": "1 MiB"}}
    layout = {"level": "raid10", "disks": 4, "failed": [1], "spares": 1, "rebuild": {}}
    array = Array.parse(
        {"drive": "dec-rz26", "layout": layout, "controller": controller, "host": {"is_buffered": True}}
    )
    requests = Workload.parse({"size": "4 KiB", "clients": 1}).requests(capacity_bytes=array.usable_bytes, n=20, seed=1)
    return pickle.dumps(kernel_calls.caught(lambda: native.run(resolve(array, 1), requests)))


def _set(where: str, value: Any) -> Change:
    """A change of one field, or of one value in it."""

    def change(array: dict[str, Any], requests: dict[str, Any], out: dict[str, Any]) -> None:
        *parents, field = where.split(".")
        table: Any = {"array": array, "requests": requests, "out": out}
        for parent in parents:
            table = table[int(parent) if isinstance(table, list) else parent]
        if isinstance(table, dict):
            table[field] = value
        else:
            table[int(field)] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("array.layout.strip", 0), "layout.strip=0: must be 1 to"),
        (_set("array.layout.n_disks", 7), "revolution_ns=(5 values): must have 8 values"),
        (_set("array.layout.n_spares", 2**32 - 1), "layout.n_disks + layout.n_spares=4294967299: must be 1 to 1048576"),
        (_set("array.layout.capacity", 2**50), "layout.capacity=1125899906842624: must be 1 to"),
        (_set("array.layout.failed", [0, 1]), "layout.failed=[0, 1]: so many lost disks leave data that is nowhere"),
        (_set("array.layout.rebuild_window", 0), "layout.rebuild_window=0: must be 1 to"),
        (_set("array.layout.largest_request", -1), "layout.largest_request=-1: must be 0 to"),
        (_set("array.layout.rebuild_speed_min", -1), "layout.rebuild_speed_min=-1: must be 0 to"),
        (_set("array.layout.rebuild_steps", 0), "layout.rebuild_steps=0: must be 1 to"),
        (_set("array.layout.family", "rows"), "layout.family=rows: must be one of concat, copies, parity"),
        (_set("array.queue.scheduler", "lifo"), "queue.scheduler=lifo: must be one of fcfs, sstf, "),
        (_set("array.depth", 0), "depth=0: must be 1 to 65536"),
        (_set("array.hit_ratio", float("nan")), "hit_ratio=NaN: must be 0 to 1"),
        (_set("array.drive.sector_bytes", 0), "drive.sector_bytes=0: must be 1 to"),
        (_set("array.drive.seek_ns.3", -1), "drive.seek_ns[3]=-1: must be 0 to 4294967295"),
        (_set("array.drive.zone_first_lba.1", 5), "drive.zone_first_lba[1]=5: must be"),
        (_set("array.drive.interface_bytes_per_s", 0), "drive.interface_bytes_per_s=0: must be 1000 to"),
        (_set("array.drive.write_overhead_ns", 2**62), "drive.write_overhead_ns=4611686018427387904: must be 0 to"),
        (_set("array.cache.lanes.budget", 0), "cache.lanes.budget=0: must be 1 to"),
        (_set("array.cache.low_lines", 2**40), "cache.low_lines=1099511627776: must be 0 to"),
        (_set("array.host.page_sectors", 0), "host.page_sectors=0: must be 1 to"),
        (_set("requests.offset.7", -512), "requests.offset[7]=-512: 4096 bytes from there are not within the array's"),
        (_set("requests.length.7", 0), "requests.length[7]=0: must be 1 to"),
        (_set("requests.op.7", 3), "requests.op[7]=3: must be 0 (read), 1 (write) or 2 (flush)"),
        (_set("requests.op.7", 2), "must be 0 of a flush"),
        (_set("requests.stream.7", 1), "requests.stream[7]=1: there are 1 streams"),
        (_set("requests.cache_draw.7", np.nan), "requests.cache_draw[7]=NaN: must be 0 to 1"),
        (_set("requests.streams.0.n_clients", -1), "streams[0].n_clients=-1: must be 0 to"),
        (_set("array.drive.kind", "tape"), "drive.kind=tape: must be one of hdd, flash"),
        (_set("out.parts", ["link"]), "out.parts=link: must be link, cache, queue, overhead, seek, rotation, transfer"),
        (_set("out.done_ns", np.zeros(19, np.int64)), "out.done_ns=(19 values): must have 20 values"),
        (_set("out.issue_ns", None), "out.issue_ns=None: may be left out only where every stream is open"),
    ],
)
def test_refusals_name_field_value_and_rule(call: bytes, change: Change, message: str) -> None:
    arguments = pickle.loads(call)
    change(*arguments)
    with pytest.raises(ValueError, match=f"^[^\n]*{re.escape(message)}[^\n]*$"):
        _kernel.run(*arguments)


def test_the_call_that_is_changed_is_a_good_one(call: bytes) -> None:
    array, requests, out = pickle.loads(call)
    end_ns = _kernel.run(array, requests, out)["end_ns"]
    assert end_ns == out["done_ns"].max() > 0


def test_seeks_are_kept_between_runs_only_of_columns_that_cannot_change(call: bytes) -> None:
    array, requests, out = pickle.loads(call)

    def end_ns(column: np.ndarray) -> int:
        array["drive"]["seek_ns"] = column
        return int(_kernel.run(array, requests, out)["end_ns"])

    def constant(column: np.ndarray) -> np.ndarray:
        kept = column.copy()
        kept.setflags(write=False)
        return kept

    column = np.array(array["drive"]["seek_ns"])
    quick = end_ns(column)
    fixed = constant(column)
    column *= 3
    slow = end_ns(column)
    assert quick < slow
    for _ in range(3):
        assert end_ns(fixed) == quick
        # a new array may lie where one was that is gone
        assert end_ns(constant(column)) == slow
    assert end_ns(fixed[:]) == quick
    fixed.setflags(write=True)
    fixed *= 3
    assert end_ns(fixed) == slow


def test_open_requests_come_in_order(call: bytes) -> None:
    array, requests, out = pickle.loads(call)
    requests["streams"] = [to_kernel(StreamRule("s"))]
    requests["when_ns"][:3] = (5, 9, 8)
    with pytest.raises(ValueError, match=r"requests.when_ns\[2\]=8: .* before the one before it, at 9"):
        _kernel.run(array, requests, out)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (_set("array.layout.strip", "8"), TypeError, r"layout.*\.strip: .*str"),
        (_set("array.layout.strip", 2**64), TypeError, r"layout.*\.strip: .*too large"),
        (_set("array.layout.n_disks", -1), TypeError, r"layout.*\.n_disks: out of range"),
        (lambda array, requests, out: array.pop("layout"), KeyError, "array: .*layout"),
        (lambda array, requests, out: array["layout"].pop("strip"), KeyError, "layout.*strip"),
        (_set("array.drive.wobble_ns", 1), TypeError, r"array: .*drive: HddTables has no field wobble_ns"),
        (_set("array.layout.slope", None), TypeError, r"layout: MdTables has no field slope"),
        (_set("array.wobble", 1), TypeError, r"array: ScenarioTables has no field wobble"),
        (_set("requests.priority", 1), TypeError, r"requests: Requests has no field priority"),
        (lambda array, requests, out: array["drive"].pop("media_cache"), KeyError, "drive.*media_cache"),
        (_set("requests.offset", [0] * 20), TypeError, r"requests: .*\.offset: "),
        (_set("out.done_ns", np.broadcast_to(np.int64(0), 20)), TypeError, r"out: .*\.done_ns: "),
    ],
)
def test_what_is_of_another_kind_or_missing(call: bytes, change: Change, kind: type[Exception], message: str) -> None:
    arguments = pickle.loads(call)
    change(*arguments)
    with pytest.raises(kind, match=message):
        _kernel.run(*arguments)


def test_a_panic_is_an_ordinary_exception(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KernelError, match=r"(?s)panicked at .*python/src/lib\.rs.*on purpose.*please report it"):
        _kernel.break_off()
    said = capfd.readouterr()
    assert said.err == said.out == ""


def test_a_panic_in_a_thread_leaves_the_others_alone() -> None:
    caught: list[str] = []

    def panic() -> None:
        try:
            _kernel.break_off()
        except KernelError as error:
            caught.append(error.what)

    threads = [threading.Thread(target=panic) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(caught) == 8
    assert all("on purpose" in what for what in caught)


def test_what_the_kernel_cannot_store_is_reported_as_such() -> None:
    """A description that keeps every rule, and a request of more pieces than the kernel's tables hold."""
    layout = {"level": "raid0", "disks": 100, "strip": "512 B", "read_strips": "separate"}
    array = Array.parse({"drive": "generic-10k", "layout": layout})
    requests = Workload.parse({"size": "2 GiB", "clients": 1}).requests(capacity_bytes=array.usable_bytes, n=1, seed=1)
    with pytest.raises(CoverageError, match=r"the kernel does not take requests.length\[0\]=2147483648"):
        run(resolve(array, 1), requests, "native")


def test_any_number_of_accesses_may_wait_for_the_thread() -> None:
    """Each was planned from within the one before it: thirty thousand were more than the stack holds."""
    n = 30_000
    array = Array.parse(
        {"drive": "generic-10k", "layout": {"level": "raid1", "disks": 2}, "queue": {"write_throttle": "linux"}}
    )
    op = np.zeros(n, np.uint8)
    op[:200] = 1
    requests = Requests(
        np.zeros(n, np.int64),
        op,
        (np.arange(n, dtype=np.int64) * 7919 % 10**6) * 4096,
        np.full(n, 4096),
        np.zeros(n, np.int32),
        np.ones(n),
        (StreamRule("s"),),
    )
    done = run(resolve(array, 0), requests, "native")
    assert (done.completions.done_ns > 0).all()
