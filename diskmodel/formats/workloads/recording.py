"""A workload from the counters of devices: iostat, sar and their like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.device_load import DeviceLoad
from diskmodel.formats.faults import file_error
from diskmodel.formats.level import Level
from diskmodel.formats.time_classes import merged
from diskmodel.formats.workloads.busiest import other_mix
from diskmodel.formats.workloads.devices import chosen_devices
from diskmodel.formats.workloads.found import HIGHER, FoundWorkload, levels_of
from diskmodel.formats.workloads.streams import device_streams
from diskmodel.units import in_digits

#: Which samples of a recording the share of reads and the sizes are from.
Mix = Literal["all", "peak"]

# A utilization that counts as "all the time" (sampling and rounding hide some idle percent), and the share of samples
# with it that is worth a warning: as many as the default level, the 95th percentile of time, is exceeded in.
_ALWAYS_BUSY = 0.95
_MANY_SAMPLES = 0.05
# Mean requests in flight below which a device was not busy all the time, whatever %util says. Rounding of the queue's
# length and of the sample's makes a few percent.
_IN_FLIGHT_WHEN_BUSY = 0.8


def from_recording(
    loads: list[DeviceLoad], device: str | None, kind: str, level: Level, mix: Mix, source: str
) -> FoundWorkload:
    chosen, notes = chosen_devices(loads, device, source)
    if device == "all":
        without_bytes = [load for load in chosen if not np.nansum(_bytes_per_s(load)) > 0]
        if len(without_bytes) < len(chosen):
            notes += [
                f"{load.device.strip()}: left out, as it has {in_digits(float(np.nanmean(load.ios_per_s)), 4)} "
                "requests/s but no bytes"
                for load in without_bytes
            ]
            names_without = {load.device for load in without_bytes}
            chosen = [load for load in chosen if load.device not in names_without]
    names = ", ".join(load.device.strip() for load in chosen)
    total = np.sum([load.ios_per_s for load in chosen], axis=0)
    is_known = np.isfinite(total)
    rates = total[is_known]
    if not len(rates):
        raise file_error(source, "holds no sample with usable counters", value=names)
    rate = level.rate(rates)
    if rate <= 0:
        raise FormatError(Fault("level", str(level), "has no load there", HIGHER), names)
    for load in chosen:
        notes += [note for note in load.notes if note not in notes]
    each = f" of {chosen[0].interval_s:g} s" if chosen[0].interval_s else ""
    samples = f"{len(rates)} samples{each}" if len(rates) > 1 else "the only sample"
    notes.append(level.in_words(f"{samples} of {names}"))
    notes += filter(None, [level.warning(rates)])
    if len(rates) > 1:
        notes.append("within a sample requests are taken as coming at random (Poisson): shorter bursts are not seen")
    notes.append("places are not recorded: uniformly random ones were assumed, the hardest case for disks")
    notes += filter(None, (_limit_note(load, is_known) for load in chosen))
    counted = is_known
    other = other_mix(chosen, rates >= rate, is_known)
    if other is not None:
        is_taken = mix == "peak" and other.is_harder
        notes.append(other.in_words(is_taken=is_taken))
        if is_taken:
            counted = is_known.copy()
            counted[is_known] = rates >= rate
    streams: list[dict[str, Any]] = []
    dropped: list[str] = []
    for load in chosen:
        prefix = f"{load.device.strip()} " if len(chosen) > 1 else ""
        share = np.nansum(load.ios_per_s[counted]) / total[counted].sum()
        if share > 0:
            found, left_out = device_streams(load, counted, rate * float(share), prefix, notes, source)
            streams += found
            dropped += [left_out] if left_out else []
    notes += dropped
    if len(chosen) > 1:
        notes.append(f"the loads of {len(chosen)} devices are put together on one array; their peaks need not coincide")
    workload = {"name": names[:120], "streams": streams}
    return FoundWorkload(
        workload,
        kind,
        levels_of(rates),
        float(rates.mean()),
        rates,
        tuple(dict.fromkeys(notes)),
        "; ".join(dropped),
        _mean_responses(chosen, is_known),
        _mean_outstanding(chosen, is_known),
        _all_responses(chosen),
    )


def _all_responses(loads: Sequence[DeviceLoad]) -> dict[str, dict[int, float]]:
    """Return how long requests took, of all devices together."""
    found = {way: merged(load.responses.get(way, {}) for load in loads) for way in ("reads", "writes")}
    return {way: classes for way, classes in found.items() if classes}


def _mean_responses(loads: Sequence[DeviceLoad], is_known: NDArray[np.bool_]) -> dict[str, float]:
    """Return the mean time of reads, of writes and of all requests, as far as the samples have them."""
    names = {
        "reads": ("reads_per_s", "read_await_ns"),
        "writes": ("writes_per_s", "write_await_ns"),
        "all": ("ios_per_s", "await_ns"),
    }
    found = {}
    for name, (rate, time) in names.items():
        n, spent = 0.0, 0.0
        for load in loads:
            rates, times = getattr(load, rate)[is_known], getattr(load, time)[is_known]
            both = np.isfinite(rates) & np.isfinite(times) & (rates > 0)
            n += float(rates[both].sum())
            spent += float((rates[both] * times[both]).sum())
        if n and spent:
            found[name] = spent / n
    return found


def _mean_outstanding(loads: Sequence[DeviceLoad], is_known: NDArray[np.bool_]) -> float | None:
    """Return how many requests were waiting or served on average, over all devices; None where it is not recorded."""
    totals = [_in_flight(load)[is_known] for load in loads]
    known = [float(np.nanmean(one)) for one in totals if np.isfinite(one).any()]
    return sum(known) if len(known) == len(loads) else None


def _bytes_per_s(load: DeviceLoad) -> NDArray[np.float64]:
    parts = np.nan_to_num(load.read_bytes_per_s) + np.nan_to_num(load.write_bytes_per_s)
    most: NDArray[np.float64] = np.fmax(load.bytes_per_s, parts)
    return most


def _limit_note(load: DeviceLoad, is_known: NDArray[np.bool_]) -> str | None:
    """Return a warning where the device was busy all the time: what it did is then no measure of what it was asked."""
    busy = load.utilization_ratio[is_known]
    is_busy = busy >= _ALWAYS_BUSY
    # Linux' %util of drives that serve several at once counts any moment within a tick as a busy tick; a device that is
    # busy all the time has a request in flight all the time
    in_flight = _in_flight(load)[is_known]
    with np.errstate(invalid="ignore"):
        is_busy &= ~(in_flight < _IN_FLIGHT_WHEN_BUSY)
    n_busy = int(np.count_nonzero(is_busy))
    if n_busy < max(_MANY_SAMPLES * len(busy), 1):
        return None
    return (
        f"{load.device.strip()} was busy all the time in {n_busy} of {len(busy)} samples: if it was at its limit, a "
        "faster array will be asked for more than was recorded"
    )


def _in_flight(load: DeviceLoad) -> NDArray[np.float64]:
    """Mean requests waiting or served of each sample; NaN where neither a queue nor waiting times are recorded."""
    from_times = load.ios_per_s * load.await_ns / 1e9
    return np.where(np.isfinite(load.queue_length), load.queue_length, from_times)
