"""A media cache as plain state: what goes to the log, where it is read, what is cleaned (rules G1 to G8)."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

from diskmodel.drive.media_cache.extents import IN_PLACE, Extent, ExtentMap
from diskmodel.drive.media_cache.tables import MediaCacheTables
from diskmodel.records import READ, WRITE

#: Sequential runs of writes that a drive follows at a time. Assumed: as many as it has segments for readers.
MAX_RUNS = 16

#: One access to the media: operation, first block, sectors.
Step = tuple[int, int, int]


class MediaLog:
    """The media cache of one arm.

    Parameters
    ----------
    tables : MediaCacheTables
    n_sectors : int
        Blocks of the arm.
    """

    def __init__(self, tables: MediaCacheTables, n_sectors: int) -> None:
        self.tables = tables
        self.n_sectors = n_sectors
        self.extents = ExtentMap()
        self._head = 0
        self._turn = 0
        #: Begin and end of the last runs of writes, the latest last.
        self._runs: list[tuple[int, int]] = []
        #: Extents that were read back and wait to be written in place, by place: turn and first block (rule G8).
        self._loaded: deque[tuple[int, int]] = deque()

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another write (rule G6)."""
        return len(self.extents) >= self.tables.max_extents or self.extents.used >= self.tables.log_sectors

    def is_in_run(self, lba: int, n: int) -> bool:
        """Note a write in its run; return whether that is long enough to be written in place (rule G2)."""
        # the longest one: what was written again in it has become a short run with the same end
        i = min((i for i, run in enumerate(self._runs) if run[1] == lba), key=lambda i: self._runs[i][0], default=None)
        begin = lba if i is None else self._runs.pop(i)[0]
        self._runs.append((begin, lba + n))
        del self._runs[:-MAX_RUNS]
        return lba + n - begin >= self.tables.run_sectors

    def begin_run(self, lba: int, n: int) -> None:
        """Take a run that goes on when the simulation begins (rule G9)."""
        self._runs.append((lba, lba + n))
        del self._runs[:-MAX_RUNS]

    def is_known_run(self, lba: int, n: int) -> bool:
        """Return whether blocks that wait when the simulation begins belong to a run that goes in place (rule G9)."""
        return any(b <= lba and lba + n <= e and lba + n - b >= self.tables.run_sectors for b, e in self._runs)

    def write(self, lba: int, n: int, in_place: bool) -> int:
        """Write blocks; return the block where the head goes (rules G3 to G5)."""
        self._turn += 1
        self.extents.cut(lba, lba + n)
        if in_place:
            self._begin_bands(lba, lba + n)
            return lba
        if self._head + n > self.tables.log_sectors:
            self._head = 0
        at, self._head = self._head, self._head + n
        for first, end in self._by_band(lba, lba + n):
            self.extents.put(Extent(first, end - first, at + first - lba, self._turn))
        return self.tables.first_sector + at

    def places(self, lba: int, n: int) -> list[tuple[int, int]]:
        """Return where blocks lie: first block and number of each contiguous part, in their order (rule G4)."""
        found: list[tuple[int, int]] = []
        at = lba
        for extent in self.extents.within(lba, lba + n):
            if extent.at == IN_PLACE:
                continue
            part = extent.part(max(extent.start, lba), min(extent.end, lba + n))
            _extend(found, at, part.start - at)
            _extend(found, self.tables.first_sector + part.at, part.n)
            at = part.end
        _extend(found, at, lba + n - at)
        return found

    def clean(self) -> list[Step]:
        """Return the accesses of the next step of cleaning; none when nothing is in the cache (rules G7 and G8)."""
        return self._clean_band() if self.tables.band_sectors else self._write_back()

    def _clean_band(self) -> list[Step]:
        oldest = self.extents.oldest()
        if not oldest:
            return []
        first, end = self._band(oldest[0].start)
        logged = []
        for extent in self.extents.within(first, end):
            self.extents.remove(extent)
            if extent.at != IN_PLACE:
                logged.append((extent.at, extent.n))
        reads = [(READ, self.tables.first_sector + at, n) for at, n in sorted(logged)]
        scratch = self.tables.first_sector + self.tables.log_sectors
        return [(READ, first, end - first), *reads, (WRITE, scratch, end - first), (WRITE, first, end - first)]

    def _write_back(self) -> list[Step]:
        while self._loaded:
            extent = self.extents.find(*self._loaded.popleft())
            if extent is not None:
                self.extents.remove(extent)
                return [(WRITE, extent.start, extent.n)]
        batch = self.extents.oldest(self.tables.batch_extents)
        self._loaded.extend((e.turn, e.start) for e in sorted(batch, key=lambda e: e.start))
        places: list[tuple[int, int]] = []
        for extent in batch:
            _extend(places, self.tables.first_sector + extent.at, extent.n)
        return [(READ, place, n) for place, n in places]

    def _begin_bands(self, first: int, end: int) -> None:
        """Blocks were written in place; the rest of a band that they do not fill has to be written anew (rule G5)."""
        if not self.tables.band_sectors:
            return
        for begin, stop in self._by_band(first, end):
            band_first, band_end = self._band(begin)
            part = Extent(begin, stop - begin, IN_PLACE, self._turn)
            for beside in self.extents.within(max(begin - 1, band_first), min(stop + 1, band_end)):
                if beside.at == IN_PLACE:
                    self.extents.remove(beside)
                    start, turn = min(part.start, beside.start), min(part.turn, beside.turn)
                    part = Extent(start, max(part.end, beside.end) - start, IN_PLACE, turn)
            if part.n < band_end - band_first:
                self.extents.put(part)

    def _band(self, lba: int) -> tuple[int, int]:
        size = self.tables.band_sectors
        first = lba // size * size
        return first, min(first + size, self.n_sectors)

    def _by_band(self, first: int, end: int) -> list[tuple[int, int]]:
        """Blocks [first, end), cut at the borders of bands."""
        size = self.tables.band_sectors or self.n_sectors
        cuts = [first, *range((first // size + 1) * size, end, size), end]
        return list(pairwise(cuts))


def _extend(places: list[tuple[int, int]], place: int, n: int) -> None:
    """Add `n` blocks from `place` on; what continues the last part joins it."""
    if n <= 0:
        return
    if places and sum(places[-1]) == place:
        places[-1] = (places[-1][0], places[-1][1] + n)
    else:
        places.append((place, n))
