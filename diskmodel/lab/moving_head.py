"""The moving head for the lab's settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from diskmodel.errors import DescriptionError, Fault, html_text
from diskmodel.lab.animation import schedulers_page, small_write_page
from diskmodel.lab.effort import check_animation
from diskmodel.lab.settings import Settings

#: Requests in an animation; the page embeds every arm movement, so its size grows in proportion.
MAX_REQUESTS = 2000


def moving_head_page(
    settings: Settings, show: str, schedulers: Sequence[str], n_requests: int, check: Callable[[], None] = lambda: None
) -> str:
    """Return an HTML page of one disk of the array under one or two schedulers, or of a small write.

    Parameters
    ----------
    settings : Settings
    show : "schedulers" or "small_write"
        A small write uses the drive and strip of `settings`, and its number of disks where the level is RAID 5.
    schedulers : sequence of str
        One or two.
    n_requests : int
        Host requests to animate, 1 to `MAX_REQUESTS`.
    check : callable
        Called at every movement of an arm; what it raises ends the simulation.

    Raises
    ------
    DescriptionError
        When there is nothing to show: no arms, unknown schedulers, faults in the settings, a simulation
        that would take too long.
    """
    if show == "small_write":
        disks = settings.disks if settings.level == "raid5" else max(settings.disks, 3)
        whole = settings.model_copy(update={"level": "raid5", "disks": disks, "has_failed_disk": False})
        return small_write_page(whole.array())
    if show != "schedulers":
        raise DescriptionError(Fault("show", show, "is not a known view", "use schedulers or small_write"))
    if not 1 <= n_requests <= MAX_REQUESTS:
        rule = f"must be 1 to {MAX_REQUESTS}"
        raise DescriptionError(Fault("requests", n_requests, rule, "try 200, which is enough to see the pattern"))
    array = settings.array()
    check_animation(settings, n_requests, len(schedulers))
    return schedulers_page(
        array,
        settings.workload(),
        schedulers,
        n_requests=n_requests,
        disk=1 if settings.has_failed_disk else 0,
        seed=settings.seed,
        check=check,
    )


def unavailable_page(reasons: Sequence[str]) -> str:
    """Return a page that says why there is nothing to show."""
    items = "".join(f"<li>{html_text(reason)}</li>" for reason in reasons)
    return (
        "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Nothing to show</title>"
        "<style>:root{color-scheme:light dark}body{font:16px/1.45 system-ui,sans-serif;margin:1rem}</style>"
        f"<p>This cannot be shown:</p><ul>{items}</ul></html>"
    )
