"""Dies, channels, interface and buffer: instants worked out by hand (rules F1 to F11, F21, F24 to F26)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel.drive.flash.description import Flash
from diskmodel.drive.flash.dies import Dies, Served
from diskmodel.drive.flash.first_layout import FirstLayout
from diskmodel.drive.flash.reservations import Wire
from diskmodel.drive.generator import DrawnTimes

US = 1000
# 4 KiB takes 10 us on a channel and 5 us on the interface
DRIVE: dict[str, Any] = {
    "name": "hand-worked",
    "capacity_bytes": 4096 * 4096,
    "channels": 2,
    "dies_per_channel": 1,
    "page_bytes": 4096,
    "pages_per_block": 16,
    "read_ns": 50 * US,
    "program_ns": 500 * US,
    "erase_ns": 2000 * US,
    "channel_bytes_per_s": 409_600_000,
    "interface_bytes_per_s": 819_200_000,
    "over_provisioning_ratio": 0.25,
    "state": "fresh",
}


def dies(**changes: Any) -> Dies:
    return Dies(Flash.parse({**DRIVE, **changes}).tables())


def test_read_senses_then_crosses_channel_and_interface() -> None:
    drive = dies(read_latency_ns=7 * US)
    drive.advance(0)
    assert drive.read(0, 0, 8) == Served((50 + 10 + 5 + 7) * US, 65 * US, latency_ns=7 * US)


def test_reads_of_two_dies_overlap_and_of_one_die_do_not() -> None:
    drive = dies()
    drive.advance(0)
    first, other_die, same_die = (drive.read(0, lba, 8).done_ns for lba in (0, 8, 16))
    assert (first, other_die, same_die) == (65 * US, 70 * US, 115 * US)


def test_part_of_a_page_moves_only_its_sectors() -> None:
    drive = dies()
    drive.advance(0)
    assert drive.read(0, 3, 1).done_ns == 50 * US + 1250 + 625


def test_data_begin_in_order_or_behind_a_shift() -> None:
    assert [FirstLayout().slot_of(unit) for unit in (0, 1, 9)] == [0, 1, 9]
    assert [FirstLayout(shift=3).slot_of(unit) for unit in (0, 1, 9)] == [3, 4, 12]


def test_pieces_lie_by_the_outputs_of_splitmix64() -> None:
    """With the first three outputs of seed 0, as published with the generator."""
    layout = FirstLayout(piece_units=4, n_pieces=1000, shift=1)
    outputs = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [layout.slot_of(4 * piece) for piece in range(3)] == [output % 1000 * 4 + 1 for output in outputs]
    assert layout.slot_of(6) == outputs[1] % 1000 * 4 + 2 + 1


def test_a_large_read_of_small_pieces_senses_many_pages() -> None:
    """Four units of a page of 16 KiB: one page as laid out in order, four pages of two dies as written one by one."""
    tables = Flash.parse({**DRIVE, "page_bytes": 16384}).tables()
    scattered = FirstLayout.of(tables, 1, np.array([0]), 0)
    pages = [scattered.slot_of(unit) // 4 for unit in range(4)]
    assert len(set(pages)) == 4
    in_order, by_pieces = Dies(tables), Dies(tables, first_layout=scattered)
    for drive in (in_order, by_pieces):
        drive.advance(0)
    assert in_order.read(0, 0, 32).done_ns == 50 * US + 40 * US + 20 * US
    on_die = [page % 2 for page in pages]
    most = max(on_die.count(die) for die in (0, 1))
    assert by_pieces.read(0, 0, 32).done_ns >= most * 50 * US + 10 * US + 5 * US


def test_drives_do_not_erase_in_step() -> None:
    """Of 16 pages a block and two dies: drive 1 begins 0.618 of the way between the dies, 4.9 pages further."""
    tables = Flash.parse(DRIVE).tables()
    assert [Dies(tables, drive=drive)._since_erase for drive in (0, 1)] == [[0, 8], [4, 12]]


def test_page_register_serves_the_page_again_without_sensing() -> None:
    drive = dies()
    drive.advance(0)
    drive.read(0, 0, 1)
    drive.advance(100 * US)
    assert drive.read(100 * US, 1, 1).done_ns == 100 * US + 1250 + 625
    drive.read(100 * US, 16, 1)  # another page of that die
    drive.advance(300 * US)
    assert drive.read(300 * US, 1, 1).done_ns == 350 * US + 1250 + 625


def test_write_without_buffer_ends_with_its_program() -> None:
    drive = dies(write_latency_ns=3 * US)
    drive.advance(0)
    assert drive.write(0, 1, 0, 8) == [(1, Served((5 + 10 + 500 + 3) * US, 515 * US, latency_ns=3 * US))]


def test_buffered_write_ends_in_the_buffer_and_is_read_from_there() -> None:
    drive = dies(write_buffer_bytes=16384, write_latency_ns=3 * US)
    drive.advance(0)
    assert drive.write(0, 1, 80, 8) == [(1, Served(8 * US, 5 * US, latency_ns=3 * US))]
    drive.settle(0)
    drive.advance(10 * US)
    assert drive.read(10 * US, 80, 8) == Served(15 * US, 5 * US, True)
    drive.settle(10 * US)
    drive.advance(515 * US)  # 5 us interface, 10 us channel, 500 us program: out of the buffer, on die 0
    assert drive.read(515 * US, 80, 8) == Served(580 * US, 65 * US)


def test_full_buffer_takes_the_next_write_when_a_program_ends() -> None:
    drive = dies(write_buffer_bytes=8192)
    drive.advance(0)
    assert [key for lba in (0, 8, 16) for key, _ in drive.write(0, lba, lba, 8)] == [0, 8]
    drive.settle(0)
    times = []
    while (change := drive.next_change_ns()) is not None:
        drive.advance(change)
        times += [(key, served.done_ns) for key, served in drive.settle(change)]
    assert times == [(16, (515 + 5) * US)]


def test_read_goes_before_a_program_that_has_not_started_and_waits_for_one_that_has() -> None:
    drive = dies(write_buffer_bytes=1 << 20, channels=1)
    drive.advance(0)
    drive.write(0, 1, 800, 8)
    drive.write(0, 2, 808, 8)
    drive.settle(0)
    drive.advance(100 * US)  # the first program runs from 5 us to 515 us
    assert drive.read(100 * US, 0, 8).done_ns == (515 + 65) * US
    drive.settle(100 * US)
    drive.advance(2000 * US)  # the second one took the die at 565 us, and the channel behind the read's data at 575 us
    assert drive.free_ns == [(575 + 10 + 500) * US]


def interrupted(program_us: int, asked_us: list[int], **changes: Any) -> tuple[list[int], int]:
    """When reads that come during a program of that length are done, after 100 us of waiting, and when it ends (us)."""
    drive = dies(write_buffer_bytes=1 << 20, channels=1, program_ns=program_us * US, **changes)
    drive._suspensions = DrawnTimes(np.array([100 * US]), 0)
    drive.advance(0)
    drive.write(0, 1, 800, 8)
    drive.settle(0)  # on the channel from 5 us to 15 us, then programmed
    done = []
    for number, at in enumerate(asked_us):
        drive.advance(at * US)
        done.append(drive.read(at * US, 8 * number, 8).done_ns // US)
        drive.settle(at * US)
    return done, drive.free_ns[0] // US


def test_a_read_suspends_a_program_which_ends_later_by_the_read() -> None:
    done, end = interrupted(500, [50], suspend_ns=100 * US)
    assert done == [50 + 100 + 65]
    assert end == 515 + 50


def test_reads_of_one_suspension_wait_for_it_once() -> None:
    """The second read comes while the first one is sensed, from 150 to 200 us; the third when the program goes on."""
    done, end = interrupted(500, [50, 160, 260], suspend_ns=100 * US)
    assert done == [215, 200 + 65, 260 + 100 + 65]
    assert end == 515 + 3 * 50


def test_a_program_that_ends_sooner_is_not_suspended() -> None:
    done, end = interrupted(500, [450], suspend_ns=100 * US)
    assert done == [515 + 65]
    assert end == 515 + 50


def test_without_a_buffer_or_where_the_drive_cannot_nothing_is_suspended() -> None:
    assert interrupted(500, [50])[0] == [515 + 65]
    unbuffered = dies(channels=1, suspend_ns=100 * US)
    unbuffered.advance(0)
    unbuffered.write(0, 1, 800, 8)
    unbuffered.advance(50 * US)
    assert unbuffered.read(50 * US, 0, 8).done_ns == (515 + 65) * US


def test_while_a_write_waits_for_room_no_program_is_suspended() -> None:
    drive = dies(write_buffer_bytes=8192, channels=1, suspend_ns=100 * US)
    drive.advance(0)
    for key in range(3):
        drive.write(0, key, 800 + 8 * key, 8)
    drive.settle(0)
    drive.advance(100 * US)
    assert drive.read(100 * US, 0, 8).done_ns == (515 + 510 + 65) * US


def test_room_is_free_when_a_suspended_program_ends() -> None:
    drive = dies(write_buffer_bytes=8192, channels=1, suspend_ns=1)
    drive.advance(0)
    for key in range(2):
        drive.write(0, key, 800 + 8 * key, 8)
    drive.settle(0)
    drive.advance(100 * US)
    drive.read(100 * US, 0, 8)
    drive.settle(100 * US)
    end = drive.free_ns[0]
    assert 515 * US + 50 * US <= end < 516 * US + 50 * US
    drive.advance(110 * US)
    drive.write(110 * US, 2, 912, 8)  # waits for room
    drive.settle(110 * US)
    served = []
    while (change := drive.next_change_ns()) is not None:
        drive.advance(change)
        served += [(change, key) for key, _ in drive.settle(change)]
    assert served == [(end, 2)]


def test_suspensions_are_exponential_with_the_mean_that_is_given() -> None:
    times = Flash.parse({**DRIVE, "suspend_ns": 70 * US}).tables().suspend_ns
    assert times.mean() == pytest.approx(70 * US, rel=0.005)
    assert np.quantile(times, 0.99) == pytest.approx(70 * US * np.log(100), rel=0.01)


def test_while_a_write_waits_for_room_a_read_lets_one_program_pass() -> None:
    drive = dies(write_buffer_bytes=8192, channels=1)
    drive.advance(0)
    for key in range(3):
        drive.write(0, key, 800 + 8 * key, 8)
    drive.settle(0)
    drive.advance(100 * US)
    assert drive.read(100 * US, 0, 8).done_ns == (515 + 510 + 65) * US


def batching(n_copied_short: int) -> Dies:
    """A drive with that many copies to go until a batch of 3 ms, which lets two units in."""
    drive = dies(write_buffer_bytes=1 << 20, suspend_ns=1, gc_batch_ns=3000 * US, gc_batch_room_bytes=8192)
    drive._gate.batched = drive.tables.batch_units - n_copied_short
    return drive


def test_a_batch_of_copies_takes_only_the_writes_that_it_has_room_for() -> None:
    """Rule F24; a batch is what two dies copy in 3 ms, at 10 us of the channel, 500 us and 50 us a page."""
    drive = batching(0)
    assert drive.tables.batch_units == round(3000 * 2 / 560)
    served = []
    for key in range(4):
        drive.advance(key * 10 * US)
        served += [number for number, _ in drive.write(key * 10 * US, key, 800 + 8 * key, 8)]
        drive.settle(key * 10 * US)
    assert served == [0, 1, 2]
    assert drive.next_change_ns() is not None
    drive.advance(3000 * US)
    ((key, one),) = drive.settle(3000 * US)
    assert (key, one.done_ns) == (3, 3005 * US)


def test_a_write_that_a_batch_holds_does_not_wait_for_room() -> None:
    """So a read suspends the program of page 0 as ever, at once (rule F21)."""
    drive = batching(0)
    drive.advance(0)
    for key in range(4):
        drive.write(0, key, 800 + 8 * key, 8)
    drive.settle(0)
    drive.advance(100 * US)
    assert drive.read(100 * US, 0, 8).done_ns // US == 100 + 65


def test_a_drive_whose_writes_wait_copies_evenly() -> None:
    drive = dies(write_buffer_bytes=8192, gc_batch_ns=3000 * US, gc_batch_room_bytes=4096)
    drive.advance(0)
    for key in range(2):
        drive.write(0, key, 800 + 8 * key, 8)
    drive._gate.batched = drive.tables.batch_units
    waiting = [drive.write(0, key, 800 + 8 * key, 8) for key in (2, 3)]
    drive.settle(0)
    drive.advance(520 * US)  # both programs have ended, and both writes get in
    assert waiting == [[], []]
    assert [key for key, _ in drive.settle(520 * US)] == [2, 3]


def test_no_batch_begins_before_there_are_copies_enough() -> None:
    drive = batching(1)
    drive.advance(0)
    assert [len(drive.write(0, key, 800 + 8 * key, 8)) for key in range(4)] == [1] * 4


def paced() -> Dies:
    """Four writes at 0 to a drive whose two dies share 10 us of the channel, 500 us and an erase in 16 pages."""
    drive = dies(write_buffer_bytes=1 << 20, suspend_ns=1, paces_writes=True)
    drive.advance(0)
    for key in range(4):
        drive.write(0, key, 800 + 8 * key, 8)
    drive.settle(0)
    return drive


def test_writes_are_let_in_at_the_pace_of_cleaning() -> None:
    """Rule F25: as of one server with constant service, whose queue has room for two units beside the one let in."""
    drive = paced()
    price_ns = (510 * US + 2000 * US // 16) // 2
    served = []
    while (now := drive.next_change_ns()) is not None:
        drive.advance(now)
        served += [(key, one.done_ns - 5 * US) for key, one in drive.settle(now)]
    assert served == [(3, price_ns)]


def test_a_write_that_waits_for_its_pace_does_not_wait_for_room() -> None:
    """So a read suspends the program of page 0 as ever, at once (rule F21)."""
    drive = paced()
    drive.advance(100 * US)
    assert drive.read(100 * US, 0, 8).done_ns // US == 100 + 65


def test_reads_take_longer_once_two_pages_were_closed_lately() -> None:
    """Rule F26: until 0.9 ms after the page before last was closed; what is in the buffer is not sensed."""
    drive = dies(write_buffer_bytes=1 << 20, suspend_ns=1, read_beside_writes_ns=40 * US)
    took = []
    for at, now_us in enumerate((0, 500, 900, 1500)):
        drive.advance(now_us * US)
        if now_us < 900:
            drive.write(now_us * US, at, 800 + 8 * at, 8)
        took.append(drive.read(now_us * US, 8 * at, 8).done_ns // US - now_us)
        if now_us == 900:
            assert drive.read(now_us * US, 808, 8).done_ns // US == now_us + 5
        drive.settle(now_us * US)
    assert took == [65, 105, 105, 65]
    assert [drive._gate.read_ns(now_ns) for now_ns in (900_000, 900_001)] == [40 * US, 0]


def test_programs_take_longer_once_the_drive_was_read_lately() -> None:
    """Rule F27: until 0.9 ms after a die last sensed; what is in the buffer is not sensed."""
    for read_us, longer_us in ((105, 400), (104, 0), (1000, 400)):
        drive = dies(write_buffer_bytes=1 << 20, program_beside_reads_ns=400 * US)
        drive.advance(read_us * US)
        drive.read(read_us * US, 8, 8)
        drive.advance(1000 * US)
        drive.write(1000 * US, 1, 0, 8)
        drive.settle(1000 * US)
        drive.advance(1010 * US)
        assert drive._running[0].end_ns // US == 1005 + 10 + 500 + longer_us


def test_part_of_a_unit_is_programmed_after_the_rest_was_read() -> None:
    drive = dies()
    drive.advance(0)
    ((_, served),) = drive.write(0, 1, 2, 4)
    # the rest arrives at 60 us; page 0 of this run goes to die 0
    assert served.done_ns == (60 + 10 + 500) * US


def test_erases_come_once_in_a_block_of_programs_when_the_drive_is_not_fresh() -> None:
    busy = {}
    for state in ("fresh", "steady"):
        drive = dies(state=state, over_provisioning_ratio=10.0, channels=1)
        now = 0
        for unit in range(160):
            drive.advance(now)
            drive.write(now, unit, unit * 8, 8)
            drive.settle(now)
            now += 10_000 * US
        drive.advance(now + 10_000 * US)
        busy[state] = drive.busy_ns
        assert drive.ftl.n_copied == 0
    assert busy["fresh"] == 160 * 510 * US
    assert busy["steady"] == busy["fresh"] + 10 * 2000 * US


def test_wire_uses_the_first_gap_that_is_long_enough() -> None:
    wire = Wire()
    assert [wire.reserve(at, ns, 0) for at, ns in ((10, 5), (20, 5), (0, 8), (0, 2), (12, 5), (12, 5))] == [
        10,
        20,
        0,
        8,
        15,
        25,
    ]


def test_commands_draw_their_delays() -> None:
    """Reads draw from the first state, 0 here, and writes from 2³² - 1 less that (rule F19)."""
    delays = [0, 10 * US, 20 * US, 30 * US]
    drive = dies(read_latency_ns=7 * US, read_delay_ns=delays, write_delay_ns=delays, write_buffer_bytes=16384)
    drive.advance(0)
    state, drawn = 0, []
    for _ in range(3):
        state = (1664525 * state + 1013904223) % 2**32
        drawn.append(delays[4 * state >> 32])
    served = [drive.read(0, 16 * k, 8) for k in range(3)]
    assert [read.latency_ns for read in served] == [7 * US + delay for delay in drawn]
    assert served[0].done_ns == (50 + 10 + 5 + 7) * US + drawn[0]
    state = (1664525 * (2**32 - 1) + 1013904223) % 2**32
    ((_, written),) = drive.write(0, 1, 80, 8)
    assert written.latency_ns == delays[4 * state >> 32]
