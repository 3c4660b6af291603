"""Draw the pictures of the course when the site is built, so that every lesson shows what the model computes.

Also write the pages with the moving head, as `diskmodel animate` does.
"""

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

from diskmodel import Array, Workload, simulate
from diskmodel.lab.animation import commits_page, schedulers_page, small_write_page
from diskmodel.records import Completions
from diskmodel.result.show.heat_map import heat_map_page
from diskmodel.result.statistics.heat_map import heat_map

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"


def drawings():
    """Load the functions that draw the pictures."""
    found = {}
    for name in ("drawings", "sketches"):
        spec = importlib.util.spec_from_file_location(name, HERE / "course" / "drawn" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= vars(module)
    return SimpleNamespace(**found)


def names() -> list[str]:
    """Return the names of the pictures in the lessons."""
    pages = "".join(path.read_text() for path in sorted((HERE / "course").glob("*.md")))
    return sorted(set(re.findall(r"\]\(pictures/(\w+)\.svg\)", pages)))


def moving() -> dict[str, str]:
    """Return pages that play back a run, by name."""
    disk, reads = Array.load(EXAMPLES / "single-disk.toml"), Workload.load(EXAMPLES / "random-read.toml")
    return {
        "commits": commits_page(disk),
        "elevators": schedulers_page(disk, reads, n_requests=100),
        "small-write": small_write_page(Array.load(EXAMPLES / "raid5.toml")),
        "tails-over-time": tails_over_time(),
    }


def tails_over_time() -> str:
    """Return the heat map of a RAID 5 whose writes a small cache takes, in bursts that fill it."""
    array = Array.from_words("8x generic-10k raid5, 4MiB write cache")
    steady = {"name": "steady", "size": "8 KiB", "read_ratio": 0.7, "rate": "300/s"}
    arrival = {"kind": "bursts", "on_rate": "1500/s", "off_rate": 0, "mean_on": "0.5 s", "mean_off": "4 s"}
    burst = {"name": "burst", "size": "8 KiB", "read_ratio": 0.0, "arrival": arrival}
    load = Workload.parse({"streams": [steady, burst]})
    run = simulate(array, load, n_requests=24_000, profile_draws=0)
    # the streams do not end together: what one does alone is another load
    done = run.run.completions
    until = min(int(done.issue_ns[run.requests.stream == stream].max()) for stream in range(2))
    together = done.done_ns <= until
    done = Completions(*(values[together] for values in vars(done).values()))
    found = heat_map(done, revolution_ms=array.revolution_ms, n_times=90, n_latencies=45)
    return heat_map_page("Eight disks in RAID 5 behind 4 MiB of write cache", [("RAID 5", found)])


def made(root: Path) -> dict[str, str]:
    """Return each picture of a lesson and each page that moves, by their places."""
    module = drawings()
    found = {f"course/pictures/{name}.svg": getattr(module, name)() for name in names()}
    return found | {f"course/pictures/{name}.html": page for name, page in moving().items()}
