"""The media cache of one arm, worked by hand: runs, the log, the map, bands, cleaning (rules G1 to G8)."""

from __future__ import annotations

import math
import random

import pytest

from diskmodel.drive import Hdd, load_drive
from diskmodel.drive.media_cache import MediaCache, MediaCacheTables
from diskmodel.drive.media_cache.log import MAX_RUNS, MediaLog
from diskmodel.errors import DescriptionError
from diskmodel.records import READ, WRITE

ARM = 1000
SHINGLED = "seagate-archive-st8000as0002"


def log_of(**changes: int) -> MediaLog:
    """A log of 40 sectors behind block 500, with bands of 100."""
    tables = {"first_sector": 500, "log_sectors": 40, "band_sectors": 100, "max_extents": 5}
    rest = {"idle_ns": 1_000_000, "run_sectors": 30, "batch_extents": 3}
    return MediaLog(MediaCacheTables(**{**tables, **rest, **changes}), ARM)


def write(log: MediaLog, lba: int, n: int) -> int:
    return log.write(lba, n, in_place=False)


def test_short_writes_go_to_the_log_one_behind_the_other_and_round() -> None:
    log = log_of()
    assert [write(log, lba, 15) for lba in (700, 20, 300)] == [500, 515, 500]
    assert log.extents.used == 45
    assert log.is_full


def test_reads_go_where_blocks_lie() -> None:
    log = log_of()
    write(log, 210, 5)
    write(log, 220, 5)
    assert log.places(200, 30) == [(200, 10), (500, 5), (215, 5), (505, 5), (225, 5)]
    assert log.places(212, 2) == [(502, 2)]
    assert log.places(0, 100) == [(0, 100)]


def test_a_new_write_takes_its_blocks_from_older_ones() -> None:
    log = log_of()
    write(log, 200, 10)
    write(log, 203, 2)
    assert log.places(200, 10) == [(500, 3), (510, 2), (505, 5)]
    assert len(log.extents) == 3
    assert log.extents.used == 10


def test_what_is_contiguous_in_the_log_too_is_one_part() -> None:
    log = log_of()
    write(log, 200, 10)
    write(log, 210, 10)
    assert log.places(195, 30) == [(195, 5), (500, 20), (220, 5)]


def test_a_write_in_two_bands_is_two_extents() -> None:
    log = log_of()
    write(log, 195, 10)
    assert len(log.extents) == 2
    assert log.clean()[0] == (READ, 100, 100)
    assert log.places(195, 10) == [(195, 5), (505, 5)]


def test_a_band_is_cleaned_as_a_whole_and_the_oldest_first() -> None:
    log = log_of()
    for lba in (950, 310, 990, 320):
        write(log, lba, 4)
    steps = log.clean()
    # the last band, its two extents in the order of the log, what is kept behind the log, and the band again
    assert steps == [(READ, 900, 100), (READ, 500, 4), (READ, 508, 4), (WRITE, 540, 100), (WRITE, 900, 100)]
    assert len(log.extents) == 2
    assert log.clean()[0] == (READ, 300, 100)
    assert log.clean() == []


def test_a_run_goes_in_place_once_it_is_long() -> None:
    log = log_of()
    assert [log.is_in_run(lba, 10) for lba in range(100, 150, 10)] == [False, False, True, True, True]
    assert not log.is_in_run(170, 10)
    assert log.is_in_run(400, 30)


def test_a_run_goes_on_beside_others_until_it_is_forgotten() -> None:
    log = log_of(run_sectors=3)
    log.is_in_run(100, 2)
    for at in range(MAX_RUNS - 1):
        log.is_in_run(500 + 10 * at, 1)
    assert log.is_in_run(102, 2)
    for at in range(MAX_RUNS):
        log.is_in_run(500 + 10 * at, 1)
    assert not log.is_in_run(104, 2)


def test_what_is_written_again_does_not_end_a_run() -> None:
    log = log_of()
    for lba in (100, 115):
        log.is_in_run(lba, 15)
    log.is_in_run(120, 10)  # again, up to where the run ends
    assert log.is_in_run(130, 5)


def test_a_band_that_a_run_leaves_unfinished_has_to_be_cleaned() -> None:
    log = log_of()
    log.write(240, 30, in_place=True)
    assert len(log.extents) == 1
    assert log.extents.used == 0
    assert log.places(230, 50) == [(230, 50)]
    assert log.clean() == [(READ, 200, 100), (WRITE, 540, 100), (WRITE, 200, 100)]


def test_a_band_that_runs_fill_in_any_order_is_whole() -> None:
    log = log_of()
    for lba, n in ((200, 30), (260, 40), (230, 30)):
        assert len(log.extents) < 3
        log.write(lba, n, in_place=True)
    assert len(log.extents) == 0


def test_a_run_replaces_what_the_log_holds() -> None:
    log = log_of()
    write(log, 250, 10)
    log.write(200, 300, in_place=True)
    assert len(log.extents) == 0
    assert log.extents.used == 0


def test_without_bands_batches_are_written_back_by_place() -> None:
    log = log_of(band_sectors=0)
    for lba in (700, 100, 400, 900):
        write(log, lba, 5)
    assert log.clean() == [(READ, 500, 15)]
    write(log, 398, 5)  # the one at 400 has changed: it waits for the next batch
    assert [log.clean() for _ in range(2)] == [[(WRITE, 100, 5)], [(WRITE, 700, 5)]]
    assert log.clean() == [(READ, 513, 12)]
    assert [log.clean() for _ in range(3)] == [[(WRITE, 398, 5)], [(WRITE, 403, 2)], [(WRITE, 900, 5)]]
    assert log.clean() == []


@pytest.mark.parametrize("per_band", [0.5, 0.9, 3.0])
def test_bands_are_cleaned_as_often_as_the_closed_form_says(per_band: float) -> None:
    """Uniform writes, extents N = `per_band` times the bands: a cleaning frees 1 + x of them.

    A band is cleaned when its oldest extent is the oldest of all, so T after its first write; until then as many come
    as in any time T: x on average. Its mean number of extents over a cycle of 1/r + T is N/B = (x + x²/2) / (1 + x).
    """
    n_bands = 400
    x = per_band - 1 + math.sqrt((per_band - 1) ** 2 + 2 * per_band)
    log = MediaLog(MediaCacheTables(0, 10**6, 1000, int(per_band * n_bands), 0, 1000, 1), n_bands * 1000)
    rng, n, cleaned = random.Random(1), 30_000, 0
    for at in range(n):
        while log.is_full:
            log.clean()
            cleaned += at >= n // 2
        write(log, rng.randrange(n_bands * 1000), 1)
    assert n / 2 / cleaned == pytest.approx(1 + x, rel=0.03)


def test_the_log_and_a_band_behind_it_must_fit() -> None:
    base = load_drive(SHINGLED).to_dict()
    with pytest.raises(DescriptionError, match=r"media_cache.*do not fit on the drive; lower size_bytes"):
        Hdd.parse(base | {"media_cache": {"size": "7.9 TB", "band": "200 GB", "max_extents": 1000}})
    with pytest.raises(DescriptionError, match="must fit into the cache"):
        MediaCache.parse({"size": "1 MB", "band": "20 MiB", "max_extents": 10})


@pytest.mark.parametrize(
    ("recording", "band", "message"),
    [("shingled", None, "band_bytes: is missing"), ("conventional", "20 MiB", "only shingled tracks")],
)
def test_bands_are_of_shingled_drives(recording: str, band: str | None, message: str) -> None:
    cache = {"size": "1 GB", "max_extents": 1000} | ({"band": band} if band else {})
    with pytest.raises(DescriptionError, match=message):
        Hdd.parse(load_drive(SHINGLED).to_dict() | {"recording": recording, "media_cache": cache})
