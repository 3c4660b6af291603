"""Where the requests of a job of fio fall: the pattern of their places, and the region."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.fio.effects import writes_in_zones
from diskmodel.formats.fio.job import FioJob
from diskmodel.formats.fio.options import size_bytes

_SECTOR_BYTES = 512
#: Zones of host-managed shingled drives, and how many of them such a drive keeps open, where a job leaves both to the
#: drive: those that were measured (westerndigitalcorporation/zonedstorage.io) and their successors have these.
_ZONE_BYTES = 256 << 20
_OPEN_ZONES = 128

#: Bands that a continuous distribution of places is described by; half as many would blur its hottest percent.
_N_BANDS = 20


class Places:
    """Translates the options of a job that are about places.

    Parameters
    ----------
    job : FioJob
    source : str
        The file that errors name.
    note : callable
        Receives what had to be assumed or was left out.
    """

    def __init__(self, job: FioJob, source: str, note: Callable[[str], None]) -> None:
        self._job, self._source, self._note = job, source, note
        self._options = job.options

    def addresses(self, shares: Mapping[str, float]) -> dict[str, Any] | None:
        """Return the pattern of places; None for random ones, or where it is not known."""
        job = self._job
        if job.pattern is None:
            return None
        text = self._options.get("rw", "").partition(":")[2].strip()
        if not job.pattern.startswith("rand"):
            if not text:
                return {"pattern": "sequential", "n_readers": job.n_jobs}
            skip = self._number_behind_rw(text)
            stride = skip + round(max(job.block_bytes.values(), default=4096.0))
            if skip > 0 and stride % _SECTOR_BYTES == 0:
                return {"pattern": "strided", "stride_bytes": stride}
            self._note(f"rw={self._options['rw']}: steps backwards are taken as random places")
            return None
        if writes_in_zones(self._options):
            return self._zone_writes(shares, text)
        if text and self._options.get("rw_sequencer", "sequential") == "sequential":
            return {
                "pattern": "sequential",
                "mean_run": float(max(self._number_behind_rw(text), 1)),
                "n_readers": job.n_jobs,
            }
        if text:
            self._note(f"rw={self._options['rw']}: repeated places are taken as new random ones")
        return self._distribution(shares)

    def _zone_writes(self, shares: Mapping[str, float], text: str) -> dict[str, Any] | None:
        """Random places with `zonemode=zbd`: writes go to the write pointers of open zones."""
        if "read" in shares:
            self._note("reads fall on the whole region, in fio on what has been written")
        if "write" not in shares:
            return None
        if self._options.get("random_distribution", "random") != "random":
            self._note("zones that are open are equally likely to be written, whatever random_distribution is")
        zone = {"pattern": "zone_write", "zone_bytes": self._zone_bytes()}
        if text and self._options.get("rw_sequencer", "sequential") == "sequential":
            self._note(f"rw={self._options['rw']}: each clone writes one zone after the other")
            return zone | {"n_open": self._job.n_jobs}
        limits = [self._options.get(name, "0").strip() for name in ("max_open_zones", "job_max_open_zones")]
        whole, each = (int(limit) if limit.isdecimal() else 0 for limit in limits)
        if not whole and not each:
            self._note(f"without max_open_zones, {_OPEN_ZONES} zones are open, as many as such drives keep open")
        most = [n for n in (whole, each * self._job.n_jobs) if n]
        return zone | {"n_open": min(most, default=_OPEN_ZONES)}

    def _zone_bytes(self) -> int:
        """Zone that `zonemode=zbd` writes: that of the drive, unless the job repeats it."""
        text = self._options.get("zonesize", "").strip()
        if not text or text == "0":
            self._note(f"zones are those of the drive: {_ZONE_BYTES >> 20} MiB is taken")
            return _ZONE_BYTES
        return self.bytes_of("zonesize", text) or _ZONE_BYTES

    def _number_behind_rw(self, text: str) -> int:
        sign = -1 if text.startswith("-") else 1
        return sign * (self.bytes_of("rw", text.lstrip("+-")) or 0)

    def _distribution(self, shares: Mapping[str, float]) -> dict[str, Any] | None:
        whole = self._options.get("random_distribution", "random")
        kind, _, rest = whole.partition(":")
        if kind in ("zoned", "zoned_abs"):
            first, *others = rest.split(",")
            if others and "read" not in shares:
                first = others[0]
            elif others and "write" in shares:
                self._note(f"random_distribution={whole}: the zones of reads are taken for writes too")
            return self._zones(kind, first)
        rest = rest.partition(",")[0].partition("/")[0]
        if kind in ("random", ""):
            return None
        if kind in ("zipf", "pareto"):
            try:
                value = float(rest or {"zipf": 1.1, "pareto": 0.2}[kind])
            except ValueError:
                raise self._error("random_distribution", whole, f"must be {kind}:NUMBER") from None
            granule = round(min(self._job.block_bytes.values(), default=4096.0))
            if kind == "zipf":
                return {"pattern": "zipf", "theta": value, "granule_bytes": max(granule // 512 * 512, 512)}
            if 0 < value < 1:
                self._note("the popular blocks of a Pareto law lie together here; fio scatters them")
                return {"pattern": "zoned", "zones": _pareto_zones(value)}
        self._note(f"random_distribution={whole} is taken as uniformly random, which is harder for caches")
        return None

    def _zones(self, kind: str, text: str) -> dict[str, Any] | None:
        """Zones as fio takes them: `access/space`, both in percent (`zoned_abs`: space in bytes)."""
        region = self.bytes_of("size", self._options.get("size", "")) if kind == "zoned_abs" else None
        found: list[list[float | None]] = []
        for part in text.split(":"):
            access, _, space = part.partition("/")
            pair: list[float | None] = [None, None]
            try:
                pair[0] = float(access) if access.strip() else None
                if space.strip():
                    pair[1] = float(size_bytes(space)) if kind == "zoned_abs" else float(space)
            except ValueError:
                raise self._error("random_distribution", f"{kind}:{text}", "must be zones like 60/10:40/90") from None
            found.append(pair)
        extent = 100.0
        if kind == "zoned_abs":
            extent = float(region or sum(space or 0.0 for _, space in found))
            if region is None:
                self._note("zones of absolute size are taken as shares of all of them")
        for place, full in ((0, 100.0), (1, extent)):
            missing = [pair for pair in found if pair[place] is None]
            rest = full - sum(pair[place] or 0.0 for pair in found)
            for pair in missing:
                pair[place] = max(rest, 0.0) / len(missing)
        zones = [
            {"access_ratio": (access or 0.0) / 100, "space_ratio": (space or 0.0) / extent} for access, space in found
        ]
        total_access, total_space = (sum(zone[key] for zone in zones) for key in ("access_ratio", "space_ratio"))
        if abs(total_access - 1) > 0.01 or total_space > 1.01 or total_space <= 0:
            raise self._error("random_distribution", f"{kind}:{text}", "must have shares that add up to 100 %")
        return {"pattern": "zoned", "zones": zones}

    def region(self) -> dict[str, Any]:
        """Return span and offset, as far as the options limit them."""
        found: dict[str, Any] = {}
        is_shared = bool(self._options.get("filename"))
        # `size` is that of all files together, `filesize` that of each.
        for option, name in (("filesize", "span"), ("size", "span"), ("offset", "offset")):
            text = self._options.get(option)
            if not text or (f"{name}_bytes" in found and not text.endswith("%")):
                continue
            if text.endswith("%"):
                share = float(text[:-1]) / 100 if re.fullmatch(r"\d{1,3}%", text) else -1.0
                if not 0 <= share <= 1:
                    raise self._error(option, text, "must be a size or a percentage")
                self._add_share(found, option, share)
                continue
            text = text if option == "offset" else text.partition("-")[0]
            if re.fullmatch(r"\d{1,9}z", text) and writes_in_zones(self._options):
                if n_bytes := int(text[:-1]) * self._zone_bytes():
                    found[f"{name}_bytes"] = n_bytes
                continue
            if re.fullmatch(r"\d+z", text) or "$" in text:
                why = "a number of zones" if text.endswith("z") else "not known here"
                self._note(f"{option}={text} is {why}: requests fall on the whole array")
                continue
            value = self.bytes_of(option, text)
            if value:
                n_files = self._n_files() if option == "filesize" else 1
                found[f"{name}_bytes"] = value * n_files * (1 if is_shared or name == "offset" else self._job.n_jobs)
        if found.get("span_bytes") and not is_shared and self._job.n_jobs > 1:
            self._note(f"{self._job.n_jobs} clones have files of their own: the region is all of them")
        largest = max((max(sizes) for sizes in self._job.sizes.values() if sizes), default=0)
        if found.get("span_bytes", largest) < largest:
            found["span_bytes"] = math.ceil(largest / _SECTOR_BYTES) * _SECTOR_BYTES
        return found

    def _add_share(self, found: dict[str, Any], option: str, share: float) -> None:
        """Add a size or an offset that is a percentage: of the file or the device, wherever it begins."""
        names = names_of(self._options.get("filename", ""))
        files = not names or not all(name.startswith(("/dev/", "\\\\.\\")) for name in names)
        if option == "size" and "span_bytes" in found:
            found["span_bytes"] = round(found["span_bytes"] * share) // _SECTOR_BYTES * _SECTOR_BYTES
        elif (share < 1) if option == "size" else (share > 0):
            found["offset_ratio" if option == "offset" else "span_ratio"] = share
            if files:
                self._note(
                    f"{option}={self._options[option]} is a share of a file whose size is not known here: the same "
                    "share of the array is taken"
                )
        if option == "offset" and "span_ratio" in found:
            found["span_ratio"] = min(found["span_ratio"], 1 - share)

    def _n_files(self) -> int:
        """Files of each clone."""
        names = names_of(self._options.get("filename", ""))
        text = self._options.get("nrfiles", "1")
        return max(len(names), int(text) if text.isdecimal() else 1, 1)

    def bytes_of(self, option: str, text: str) -> int | None:
        """Return the bytes of an option's size; None for a percentage, or none."""
        if not text or text.endswith("%"):
            return None
        try:
            return size_bytes(text, 1000 if self._options.get("kb_base") == "1000" else 1024)
        except ValueError as error:
            raise self._error(option, text, str(error)) from None

    def _error(self, option: str, value: object, rule: str) -> FormatError:
        return FormatError(Fault(f"{self._job.name or 'job'}.{option}", value, rule), self._source)


def names_of(filename: str) -> list[str]:
    """Return the files of fio's `filename`: colons separate them, but for those behind a backslash."""
    return [name for name in re.split(r"(?<!\\):", filename) if name]


def _pareto_zones(h: float) -> list[dict[str, float]]:
    """Bands of the law with which a share `h` of the space gets 1 - h of the requests.

    fio draws the place u^p of a uniform u, with p = log(h) / log(1 - h), so a share x of the space gets x^(1/p).
    """
    power = math.log(h) / math.log(1 - h)
    edges = [(band / _N_BANDS) ** max(power, 1.0) for band in range(_N_BANDS + 1)]
    access = [edge ** (1 / power) for edge in edges]
    return [
        {"access_ratio": access[i + 1] - access[i], "space_ratio": edges[i + 1] - edges[i]} for i in range(_N_BANDS)
    ]
