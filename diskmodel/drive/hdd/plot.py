"""Plot of a hard disk: its seek curve and the rates of its zones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from diskmodel.drive.geometry import mean_seek_ns, seek_curve, zone_rates

if TYPE_CHECKING:
    from diskmodel.drive.hdd.description import Hdd


def plot_drive(drive: Hdd) -> Figure:
    """Return a figure of the seek curve (left) and of sustained and media rate by position (right).

    The figure has no window; save it with ``figure.savefig(path)``.
    """
    figure = Figure(figsize=(10, 4), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(f"{drive.name} ({drive.rpm:,.0f} rpm)")
    seek, rate = figure.subplots(1, 2)

    distance, time_ms = seek_curve(drive)
    mean_ms = mean_seek_ns(drive.tables()) / 1e6
    seek.plot(distance, time_ms)
    seek.axhline(mean_ms, linestyle="--", linewidth=1, color="grey", label=f"mean over all pairs {mean_ms:.2f} ms")
    seek.set(xlabel="seek distance (cylinders)", ylabel="seek time (ms)", ylim=(0, None), xlim=(0, None))
    seek.xaxis.set_major_locator(MaxNLocator(5))
    seek.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    seek.legend(loc="lower right")

    rates = zone_rates(drive)
    tables = drive.tables()
    edges_gb = [*(rates.first_byte / 1e9), tables.n_sectors_per_actuator * tables.sector_bytes / 1e9]
    rate.stairs(rates.sustained_bytes_per_s / 1e6, edges_gb, label="sustained", baseline=None)
    rate.stairs(rates.media_bytes_per_s / 1e6, edges_gb, label="along a track", baseline=None, linestyle=":")
    what = "position (GB)" if tables.actuators == 1 else "position in each actuator's half (GB)"
    rate.set(xlabel=what, ylabel="rate (MB/s)", ylim=(0, None), xlim=(0, edges_gb[-1]))
    rate.legend(loc="lower left")
    return figure
