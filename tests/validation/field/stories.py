"""Six stories from the field: the question, the runs that answer it, and what they show."""

from __future__ import annotations

from dataclasses import dataclass

from tests.validation.field.cases import CASES, RUNS

#: A column of a story's table: heading, quantity of the runs.
Column = tuple[str, str]


@dataclass(frozen=True)
class Line:
    """One run of a story.

    Attributes
    ----------
    label : str
    array, workload : str
        Files of `examples/field/`, without ".toml".
    options : dict
        As in `examples/field/scenarios.toml`.
    author : dict of str to str
        What the author measured, by quantity, as printed.
    """

    label: str
    array: str
    workload: str
    options: dict[str, object]
    author: dict[str, str]

    @property
    def run(self) -> dict[str, object]:
        """What the runner of scenarios takes."""
        return {"array": self.array, "workload": self.workload, **self.options}


@dataclass(frozen=True)
class Story:
    """A question from the field and the runs that answer it."""

    name: str
    title: str
    question: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    answer: str


def _of_case(case: str, columns: tuple[Column, ...], labels: tuple[str, ...]) -> tuple[Line, ...]:
    """The runs of a case of the field measurements."""
    lines = []
    for label, run in zip(labels, (run for run in RUNS if run["case"] == case), strict=True):
        row = CASES[case]["rows"][run["row"]]
        author = {name: _printed(row, name) for _, name in columns}
        options = {key: value for key, value in run.items() if key not in ("array", "workload", "case", "row")}
        lines.append(Line(label, run["array"], run["workload"], options, author))
    return tuple(lines)


def _printed(row: dict[str, object], name: str) -> str:
    if name in row:
        return f"{row[name]:g}"
    return f"{row[f'{name}_min']:g} to {row[f'{name}_max']:g}" if f"{name}_min" in row else ""


_THREADS = (("ms for 100 reads", "ms_per_100_reads"), ("mean response, ms", "mean_response_ms"))
_SORTED = (("writes/s", "iops"),)
_STRIP = (("MB/s", "bandwidth_mb_s"),)
_AHEAD = (("MB/s", "mb_s"), ("request, sectors", "avgrq_sectors"), ("in the queue", "avgqu"))
_MIXED = (("reads/s", "reads"),)

STORIES: dict[str, Story] = {
    story.name: story
    for story in (
        Story(
            "sorted-writes",
            "Sorted writes",
            "A program has two million small writes to make into 100 GB. Does it help to sort them in memory first?",
            _SORTED,
            _of_case("sorted-writes", _SORTED, ("random", "sorted")),
            "Each write is smaller than a page, so the page is read first. In random order that costs a seek and half "
            "a revolution; in address order only the time until the next page passes under the head. The flusher "
            "sorts what waits in memory in any case, which is why random order is not even slower. It writes in waves: "
            "nothing until the oldest data are 30 s old, then everything, for about as long again. Between two waves "
            "sorted writes go at twice the average; during one they nearly stop, because the pages that they must read "
            "wait behind it in the disks' queues. The effect of fsync is a separate "
            "story: sorted-writes-fsync.",
        ),
        Story(
            "sorted-writes-fsync",
            "Sorted writes that must be durable",
            "The same writes, but the program calls fsync: when it returns, everything is on the disks. How much of "
            "the gain remains, and what does a second file change?",
            _SORTED,
            tuple(
                Line(
                    label,
                    f"sorted-writes/array-fsync-{every}",
                    f"sorted-writes/{workload}",
                    {"requests": requests} | ({"stream": "writes"} if workload.endswith("log") else {}),
                    {},
                )
                for label, every, workload, requests in (
                    ("random, fsync each 100", 100, "random", 20_000),
                    ("sorted, fsync each 100", 100, "sorted", 60_000),
                    ("sorted by 10,000, fsync each", 10_000, "sorted-10000", 100_000),
                    ("random, fsync each write", 1, "random", 10_000),
                    ("sorted, fsync each write", 1, "sorted", 20_000),
                    ("random, each write, and a log", 1, "random-and-log", 20_000),
                    ("sorted, each write, and a log", 1, "sorted-and-log", 20_000),
                    ("sorted, each 100, and a log", 100, "sorted-and-log", 120_000),
                )
            ),
            "An fsync after every hundred writes costs little. What matters is how many writes are sorted together: "
            "10,000 writes in 100 GB are 10 MB apart, so the arm seeks for each. With an fsync after each write the "
            "flusher has nothing to sort, and a write waits for its page to pass twice, once to be read and once to "
            "be written. A second file that is written at the same time destroys the gain, as the article says: the "
            "head travels between two places, and order in one of them no longer helps.",
        ),
        Story(
            "threads",
            "More threads, more reads",
            "One thread reads at random as fast as it can. How much throughput do more threads add, and at what "
            "latency?",
            _THREADS,
            _of_case("random-read-threads", _THREADS, ("1 thread", *(f"{n} threads" for n in (5, 10, 20, 50)))),
            "One thread keeps one disk busy. Up to one thread per group of disks, the time of 100 reads falls in "
            "proportion and the response time hardly grows. Beyond that, threads compete for the same disks, and each "
            "additional thread adds as much to the response time as to the rate. Queues still help: the disk chooses "
            "the nearest request.",
        ),
        Story(
            "strip-size",
            "A request beyond the strip",
            "Seven disks in RAID 5 with strips of 128 KiB, one sequential reader, and a controller that does not read "
            "ahead. How large must a read be before it uses more than one disk?",
            _STRIP,
            tuple(
                Line(f"{size} KiB", "raid5-7x10k/no-read-ahead", f"raid5-7x10k/read-{size}k", {"requests": 4000}, {})
                for size in (64, 128, 256, 512)
            ),
            "A read that fits into a strip comes from the buffer of one disk, which has read ahead by itself, and the "
            "next read waits for it. Beyond the strip, two disks send at once and the rate doubles, as the article "
            "describes without printing figures. Four strips use four disks, until the platters of all seven are the "
            "limit.",
        ),
        Story(
            "read-ahead",
            "Read-ahead",
            "One process reads sequentially in blocks of 8 KiB through the page cache. What does `blockdev --setra` "
            "change?",
            _AHEAD,
            _of_case("readahead-8k-sequential", _AHEAD, ("off", "256 sectors", "2048 sectors")),
            "The window is the size of the requests that the device sees, up to the device's maximum (1024 sectors). "
            "The rest of a larger window becomes queue depth. Two windows are outstanding at once. A device that "
            "serves one request after the other cannot reach the rate of the largest window; this is the one figure "
            "here that the model misses.",
        ),
        Story(
            "interference",
            "Few writes, far fewer reads",
            "A flash drive serves thousands of reads a second. What do fewer than two hundred writes a second change?",
            _MIXED,
            _of_case(
                "flash-read-write-interference",
                _MIXED,
                (
                    "MLC, 40 readers",
                    "MLC, and 175 writes/s",
                    "MLC, readers limited to 80/s each, and writes",
                    "SLC, 40 readers",
                    "SLC, readers limited to 40/s each, and 90 writes/s",
                ),
            ),
            "A read waits while its die programs or erases. In the steady state each write also moves other pages, so "
            "a few writes keep many dies busy, and a client waits for the slowest die.",
        ),
    )
}
