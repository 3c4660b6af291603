"""The moving head: a recorded run as one HTML file that animates it, offline."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape

from diskmodel.array import Array
from diskmodel.controller import Controller
from diskmodel.errors import DescriptionError, Fault, in_page, visible
from diskmodel.lab.recording import DiskRecord, Recording, record
from diskmodel.queue import Queue
from diskmodel.records import Op, Requests
from diskmodel.workload import Workload, log_of_commits


def schedulers_page(
    array: Array,
    workload: Workload,
    schedulers: Sequence[str] = ("fcfs", "sptf"),
    *,
    n_requests: int = 200,
    disk: int = 0,
    seed: int = 0,
    check: Callable[[], None] = lambda: None,
) -> str:
    """Return an HTML page on which one disk of `array` serves the same requests under one or two schedulers.

    Each scheduler sees all waiting requests: the drive gets one command at a time. The write caches of the drives are
    off, so that writes move the arm when they arrive.

    Parameters
    ----------
    array : Array
        An array of hard disks.
    workload : Workload
    schedulers : sequence of str
        One or two names, as in `queue.scheduler`.
    n_requests : int
        Host requests of each run.
    disk : int
        Number of the disk to show.
    seed : int
    check : callable
        Called at every movement of an arm; what it raises ends the simulation.

    Raises
    ------
    DescriptionError
        When the array has no arms, a scheduler is not known, or the disk does not exist.
    """
    if not 1 <= len(schedulers) <= 2:
        raise DescriptionError(
            Fault("schedulers", ",".join(schedulers), "must be one or two names", "write for example fcfs,sptf")
        )
    if not 0 <= disk < array.n_devices:
        raise DescriptionError(Fault("disk", disk, f"must be 0 to {array.n_devices - 1}", "choose one of the disks"))
    panels = []
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=n_requests, seed=seed)
    for name in schedulers:
        queue = Queue.parse({**dict(array.queue), "scheduler": name, "drive_depth": 1}, "schedulers")
        recording = record(_without_buffers(array, queue=queue), requests, seed, check)
        panels.append(_panel(name, recording, recording.disks[disk]))
    shown = f"disk {disk} of {array.n_devices}" if array.n_devices > 1 else "one disk"
    return _page(
        title="The moving head",
        subtitle=f"{array.drive.name}, {shown}; workload {workload.name}, {n_requests} requests.",
        note="The same requests under each scheduler. Dots are waiting requests, drawn at the position of their data.",
        panels=panels,
    )


def small_write_page(array: Array, *, seed: int = 0) -> str:
    """Return an HTML page on which an idle RAID 5 writes 4 KiB: four I/Os on two disks, with the extra revolution.

    The controller's caches are left out: a cache would accept the write, and no arm would move.

    Raises
    ------
    DescriptionError
        When the array is not a RAID 5 of hard disks.
    """
    if array.layout.level != "raid5":
        raise DescriptionError(
            Fault("layout.level", array.layout.level, "must be raid5 to show a small write", "choose a raid5 array")
        )
    layout = array.layout.model_copy(update={"write_policy": "read-modify-write"})
    watched = _without_buffers(array, layout=layout, controller=Controller())
    recording = record(watched, _in_the_middle(array, read_ratio=0.0), seed)
    busy = [one for one in recording.disks if one.movements]
    # a read of the same block shows which disk has its data
    read = record(watched, _in_the_middle(array, read_ratio=1.0), seed)
    data = [one.disk for one in read.disks if one.movements]
    names = [f"disk {one.disk}: {'data' if one.disk in data else 'parity'}" for one in busy]
    return _page(
        title="One small write in RAID 5",
        subtitle=f"{array.layout.disks} × {array.drive.name}, idle; one write of 4 KiB.",
        note="The array reads old data and old parity, then writes both. By then the sectors have just passed the "
        "heads, so each platter needs nearly another revolution.",
        panels=[_panel(name, recording, one) for name, one in zip(names, busy, strict=True)],
        story=_story(recording, busy, data),
    )


def commits_page(array: Array, clients: Sequence[int] = (1, 8), *, n_batches: int = 12, seed: int = 0) -> str:
    """Return an HTML page on which so many clients commit to a log on one disk, each number in a panel of its own.

    The write caches of the drives are off, and the controller's caches are left out: either would accept the writes,
    and no arm would wait.

    Parameters
    ----------
    array : Array
        A single hard disk.
    clients : sequence of int
        Clients of each panel, each of which commits again when its commit is safe.
    n_batches : int
        Commits of each client.
    seed : int

    Raises
    ------
    DescriptionError
        When the array has no arms.
    """
    panels = []
    for n_clients in clients:
        load = Workload.parse({"streams": [log_of_commits(clients=n_clients)]})
        requests = load.requests(capacity_bytes=array.usable_bytes, n=n_clients * n_batches, seed=seed)
        recording = record(_without_buffers(array, controller=Controller()), requests, seed)
        mean_ms = sum(recording.response_ns) / len(recording.response_ns) / 1e6
        per_s = len(recording.response_ns) / recording.end_ns * 1e9
        name = f"{n_clients} client{'' if n_clients == 1 else 's'}: {per_s:.0f} commits/s, {mean_ms:.1f} ms each"
        panels.append(_panel(name, recording, recording.disks[0]))
    return _page(
        title="A log waits for the platter",
        subtitle=f"{array.drive.name}; each client appends 512 bytes and waits until they are safe.",
        note="The end of the log has just passed the head when the next commit comes, so that each write waits for "
        "nearly a whole turn. All who commit meanwhile share the next one.",
        panels=panels,
    )


def _story(recording: Recording, busy: Sequence[DiskRecord], data: Sequence[int]) -> dict[str, Any]:
    """Return the four I/Os in order of their start, and a sentence on where the time of the write went."""
    steps = []
    for disk in busy:
        for movement in disk.movements:
            what = "data" if disk.disk in data else "parity"
            verb = "read old" if movement.op == Op.READ else "write new"
            steps.append({"name": f"{verb} {what}", "disk": disk.disk, **asdict(movement)})
    steps.sort(key=lambda step: (step["submitted_ns"], step["disk"]))
    reads = [step for step in steps if step["op"] == Op.READ]
    writes = [step for step in steps if step["op"] != Op.READ]
    read_ms = max(step["done_ns"] for step in reads) / 1e6
    total_ms = recording.response_ns[0] / 1e6
    round_ms = max(step["rotation_ns"] for step in writes) / 1e6
    revolution_ms = busy[0].revolution_ns / 1e6
    text = (
        f"The write takes {total_ms:.2f} ms: {read_ms:.2f} ms to read old data and old parity, and "
        f"{total_ms - read_ms:.2f} ms to write the new ones. For {round_ms:.2f} ms of that, the head waits until the "
        f"sector comes round again; a revolution takes {revolution_ms:.2f} ms."
    )
    return {"steps": steps, "text": text}


def _in_the_middle(array: Array, read_ratio: float) -> Requests:
    """Return a single request of 4 KiB in the middle of the array."""
    middle = array.usable_bytes // 2 // 4096 * 4096
    workload = Workload.parse(
        {"size_bytes": 4096, "read_ratio": read_ratio, "clients": 1, "offset_bytes": middle, "span_bytes": 4096}
    )
    return workload.requests(capacity_bytes=array.usable_bytes, n=1)


def _without_buffers(array: Array, **changes: object) -> Array:
    drive = array.drive.deviating("without-write-back") or array.drive
    return array.model_copy(update={"drive": drive, **changes})


def _panel(name: str, recording: Recording, disk: DiskRecord) -> dict[str, Any]:
    return {"name": visible(name), "end_ns": recording.end_ns, **disk.to_dict()}


def _page(
    *, title: str, subtitle: str, note: str, panels: list[dict[str, Any]], story: dict[str, Any] | None = None
) -> str:
    # escaped, "<" cannot end the script element early
    data = json.dumps({"panels": panels, "story": story}, separators=(",", ":")).replace("<", "\\u003c")
    return _rendered(title=title, subtitle=subtitle, note=note, data=data)


def page_template() -> str:
    """Return the page of an animation with @title@, @subtitle@, @note@ and @data@ in place of its contents."""
    return _rendered(**{name: f"@{name}@" for name in ("title", "subtitle", "note", "data")})


def _rendered(**contents: str) -> str:
    loader = PackageLoader("diskmodel.lab", "templates")
    environment = Environment(loader=loader, autoescape=select_autoescape(["j2"]), finalize=in_page)
    return environment.get_template("moving_head.html.j2").render(contents)
