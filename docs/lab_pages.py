"""Write the live lab when the site is built: the page of `diskmodel lab` with the kernel as WebAssembly.

The home page begins with the answer to its question, so that a reader sees one before the kernel has been loaded, and
where it cannot be.
"""

from pathlib import Path

from diskmodel import PlanDescription, run_plan
from diskmodel.lab.site import files
from diskmodel.plan import Candidate
from diskmodel.version import __version__

HOME = "index.md"
#: What the home page asks: the defaults of the lab's question (`controls.js`), of the drives and levels in its address.
QUESTION = {
    "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "500/s"},
    "objective": {"iops": 500, "capacity": "2 TB", "fill_limit_ratio": 0.8, "latency": {"p99": "80 ms"}},
    "candidates": {"drives": ["seagate-exos-x20", "samsung-pm9a3-7680"], "levels": ["raid10", "raid5"]},
}
_LEVELS = {"raid10": "RAID 10", "raid5": "RAID 5"}


def made(root: Path) -> dict[str, str]:
    """Return the files of the lab by their places; where the kernel was not compiled, a page that says so."""
    return {f"lab/{name}": text for name, text in files().items()}


def first_answer() -> str:
    """Return the answer to the home page's question, as the lab gives it: if all is as described."""
    plan = PlanDescription.parse(QUESTION)
    result = run_plan(plan, with_relaxations=False, with_details=False, by_chance=False)
    best = result.best
    assert best is not None
    others = [one for one in result.candidates if one.disks and one.family.drive != best.family.drive]
    other = min(others, key=lambda one: one.disks or 0)
    return (
        "500 requests a second of 8 KiB, 70 % of them reads, 2 TB of data and a p99 latency of at most 80 ms need "
        f"**{_in_words(best)}**, or {_in_words(other)}."
    )


def _in_words(found: Candidate) -> str:
    level = _LEVELS[found.family.level]
    return f"{found.disks} disks of {found.family.drive.name} in {level}"


def written(markdown: str, place: str) -> str:
    """Return the home page with its first answer and the version."""
    if place != HOME:
        return markdown
    return markdown.replace("{first_answer}", first_answer()).replace("{version}", __version__)
