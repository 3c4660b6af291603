"""sysstat 12.6: the same minute of load as iostat, sadf and sar show it."""

import json

import numpy as np
import pytest

from diskmodel.errors import FormatError
from diskmodel.formats.faults import LineError
from diskmodel.formats.sysstat import loads_of_text, read_sysstat
from diskmodel.formats.workloads.find import find_workload, load_workload
from tests.unit.formats.files import DATA


def test_iostat_json_without_its_first_report():
    (load,) = read_sysstat(DATA / "iostat.json")
    reports = json.loads((DATA / "iostat.json").read_text())["sysstat"]["hosts"][0]["statistics"]
    disks = [report["disk"][0] for report in reports]
    assert (load.device, len(load), len(reports)) == ("vda", 3, 4)
    assert load.reads_per_s.tolist() == [disk["r/s"] for disk in disks[1:]]
    assert load.write_bytes_per_s.tolist() == [disk["wkB/s"] * 1024 for disk in disks[1:]]
    assert load.queue_length.tolist() == [disk["aqu-sz"] for disk in disks[1:]]
    np.testing.assert_allclose(load.utilization_ratio, [disk["util"] / 100 for disk in disks[1:]])
    np.testing.assert_allclose(load.read_await_ns, [disk["r_await"] * 1e6 for disk in disks[1:]])
    # sizes follow from rates: iostat prints them too, with two decimals of a KiB
    np.testing.assert_allclose(load.write_request_bytes, [d["wareq-sz"] * 1024 for d in disks[1:]], atol=5.2)
    assert len(read_sysstat(DATA / "iostat.json", keep_first=True)[0]) == 4


def test_iostat_text_in_kib_and_in_mib():
    (load,) = read_sysstat(DATA / "iostat.txt")
    assert load.reads_per_s.tolist() == [28577.0, 28349.0]
    assert load.read_bytes_per_s.tolist() == [114544.0 * 1024, 113412.0 * 1024]
    np.testing.assert_allclose(load.utilization_ratio, [0.668, 0.684])
    (load,) = read_sysstat(DATA / "iostat_m.txt")
    assert load.write_bytes_per_s.tolist() == [115.77 * 2**20]


def test_sadf_and_sar_show_the_same_samples():
    (sadf,) = read_sysstat(DATA / "sadf.json")
    (sar,) = read_sysstat(DATA / "sar.txt")
    assert len(sadf) == 3
    assert sadf.interval_s == 1
    for name in ("ios_per_s", "read_bytes_per_s", "write_bytes_per_s", "await_ns", "queue_length", "utilization_ratio"):
        np.testing.assert_allclose(getattr(sadf, name), getattr(sar, name), err_msg=name)
    assert np.isnan(sadf.reads_per_s).all()


def test_sysstat_10_names_and_a_locale_with_commas():
    text = (
        "Linux 3.2 (h)\n\n"
        + "Device:   rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  svctm  %util\n"
        + "sda         0,00     1,00   10,00    5,00   100,00    40,00    18,67     0,25   12,50   2,00  30,00\n\n"
    ) * 2
    (load,) = loads_of_text(text)
    assert (load.reads_per_s[0], load.queue_length[0], load.await_ns[0]) == (10, 0.25, 12.5e6)
    assert load.utilization_ratio[0] == pytest.approx(0.3)


def test_await_of_both_is_weighted_by_requests():
    (load,) = read_sysstat(DATA / "iostat.json", keep_first=True)
    expected = (173.45 * 0.29 + 49.82 * 0.26) / (173.45 + 49.82) * 1e6
    assert load.await_ns[0] == pytest.approx(expected)


def test_faults():
    with pytest.raises(LineError, match="%util") as raised:
        loads_of_text((DATA / "iostat.txt").read_text().replace("68.40", "lots"), "f")
    assert raised.value.line > 1
    document = json.loads((DATA / "iostat.json").read_text())
    disks = [report["disk"][0] for report in document["sysstat"]["hosts"][0]["statistics"]]
    disks[2]["r/s"], disks[3]["aqu-sz"] = -1, "much"
    with pytest.raises(FormatError) as found:
        loads_of_text(json.dumps(document))
    assert [fault.field for fault in found.value.faults] == [
        "statistics.2.disk.vda.r/s",
        "statistics.3.disk.vda.aqu-sz",
    ]
    with pytest.raises(FormatError, match=r"line \d+, column \d+: is not valid JSON"):
        loads_of_text((DATA / "iostat.json").read_text()[:900], kind="iostat-json")
    with pytest.raises(FormatError, match="is no output of sysstat"):
        loads_of_text("hello")


def test_the_only_report_is_taken_and_named():
    one_report = (DATA / "iostat.txt").read_text().partition("11/21/26 03:51:56")[0]
    (load,) = loads_of_text(one_report)
    assert len(load) == 1
    assert "since the machine was started" in load.notes[0]


def test_an_idle_sample_has_no_request_size():
    document = json.loads((DATA / "iostat.json").read_text())
    disk = document["sysstat"]["hosts"][0]["statistics"][2]["disk"][0]
    for name in ("r/s", "rkB/s"):
        disk[name] = 0.0
    (load,) = loads_of_text(json.dumps(document))
    assert np.isnan(load.read_request_bytes).tolist() == [False, True, False]


def test_names_of_sar_may_come_last(tmp_path):
    """`sar -d --pretty`; by hand, two devices in two samples."""
    path = tmp_path / "sar.txt"
    path.write_text(
        "Linux 6.1 (web)  03/01/24  _x86_64_  (8 CPU)\n\n"
        "00:00:01   tps   rkB/s   wkB/s   areq-sz   aqu-sz   await   %util DEV\n"
        "00:10:01   120   720   240   8.0   0.5   4.0   40.0 dev8-16\n"
        "00:10:01   1   4   4   8.0   0.0   0.5   0.1 dev8-0\n"
        "00:20:01   130   780   260   8.0   0.5   4.0   40.0 dev8-16\n"
        "00:20:01   2   8   8   8.0   0.0   0.5   0.1 dev8-0\n"
    )
    loads = {load.device: load.ios_per_s.tolist() for load in read_sysstat(path)}
    assert loads == {"dev8-16": [120, 130], "dev8-0": [1, 2]}


def test_flushes_are_named_where_there_are_any(tmp_path):
    (load,) = read_sysstat(DATA / "iostat.json")
    reports = json.loads((DATA / "iostat.json").read_text())["sysstat"]["hosts"][0]["statistics"]
    mean = sum(report["disk"][0]["f/s"] for report in reports[1:]) / 3
    assert load.flushes_per_s.mean() == pytest.approx(mean)
    found = find_workload(DATA / "iostat.json")
    (note,) = [note for note in found.notes if "flushes" in note]
    assert note.startswith(f"flushes: {mean:.3g}/s on average")
    (writes,) = [stream for stream in found.workload["streams"] if stream["read_ratio"] == 0]
    assert writes["sync"] == "fdatasync"
    assert writes["sync_every"] == round(load.writes_per_s.sum() / load.flushes_per_s.sum())
    text = (DATA / "iostat.json").read_text().replace('"f/s": 1.00', '"f/s": 0.00').replace('"f/s": 2.82', '"f/s": 0')
    (tmp_path / "iostat.json").write_text(text)
    assert not [note for note in find_workload(tmp_path / "iostat.json").notes if "flushes" in note]


def test_flushes_of_writes_that_are_not_counted_apart_have_no_answer(tmp_path):
    """`iostat` without -x beside a column of flushes; by hand."""
    path = tmp_path / "iostat.txt"
    path.write_text(
        "Linux 6.1 (web)  03/01/24  _x86_64_  (8 CPU)\n\n"
        "Device tps kB_read/s kB_wrtn/s f/s\nsda 100 400 400 20\n\n"
        "Device tps kB_read/s kB_wrtn/s f/s\nsda 100 400 400 20\n"
    )
    assert find_workload(path).dropped_flushes == "20 flushes/s of sda are left out"
    with pytest.raises(FormatError, match="no figure can be given"):
        load_workload(path)


def test_flushes_of_diskstats_are_named():
    row = "   8       0 sda {} 0 800 10 50 0 400 10 0 20 20 0 0 0 0 {} 3\n"
    text = f"1700000000.0\n{row.format(100, 5)}1700000010.0\n{row.format(200, 25)}"
    (load,) = loads_of_text(text, kind="diskstats")
    assert load.reads_per_s.tolist() == [10.0]
    assert load.flushes_per_s.tolist() == [2.0]


def test_megabytes_that_are_rounded_to_nothing_are_not_tiny_requests(tmp_path):
    """`iostat -xm` of sysstat 10: 0.00 MB/s of 2 writes a second are up to 5 kB/s, not requests of a sector."""
    text = (
        "Linux 3.10 (h)\n\n"
        "Device:         rrqm/s   wrqm/s     r/s     w/s    rMB/s    wMB/s avgrq-sz avgqu-sz   await  svctm  %util\n"
        "sda               0.00     0.02    6.00    2.00     0.07     0.00    16.00     0.00    0.88   0.52   0.01\n\n"
    ) * 2
    (tmp_path / "iostat.txt").write_text(text)
    found = find_workload(tmp_path / "iostat.txt")
    assert [stream["sizes"][0]["size_bytes"] for stream in found.workload["streams"]] == [8192, 8192]
    assert any(note.startswith("the bytes of writes are 0 in the unit of the columns") for note in found.notes)


IOSTAT_Y = (
    "Linux 6.1.0 (srv) \t03/04/26 \t_x86_64_\t(4 CPU)\n\nDevice r/s w/s rkB/s wkB/s aqu-sz %util\n"
    "sda {first}\n\nDevice r/s w/s rkB/s wkB/s aqu-sz %util\nsda 203.00 51.00 1620.50 408.00 0.40 {util}\n"
)


def test_a_first_report_of_whole_counts_is_one_of_an_interval():
    (kept,) = loads_of_text(IOSTAT_Y.format(first="400.00 101.00 3210.50 808.00 0.50 50.00", util="25.00"))
    assert len(kept) == 2
    (dropped,) = loads_of_text(IOSTAT_Y.format(first="400.37 101.00 3210.50 808.00 0.50 50.00", util="25.00"))
    assert len(dropped) == 1
    assert any("--keep-first" in note for note in dropped.notes)


def test_keep_first_decides():
    text = IOSTAT_Y.format(first="400.00 101.00 3210.50 808.00 0.50 50.00", util="25.00")
    assert [len(loads_of_text(text, keep_first=keep)[0]) for keep in (True, False)] == [2, 1]


def test_totals_show_how_long_a_report_is():
    text = "Linux 6.1.0 (srv) \t03/04/26\n" + "\nDevice tps kB_read/s kB_wrtn/s kB_read kB_wrtn\nsda 9.37 {}\n" * 2
    (kept,) = loads_of_text(text.format("37.51 0.00 75 0", "41.50 0.00 83 0"))
    assert len(kept) == 2
    (dropped,) = loads_of_text(text.format("37.51 0.00 375100 0", "41.50 0.00 83 0"))
    assert len(dropped) == 1


def test_util_is_doubted_where_nothing_is_in_flight(tmp_path):
    path = tmp_path / "iostat"
    for queue, is_warned in (("0.01", False), ("1.20", True)):
        path.write_text(IOSTAT_Y.format(first="1.37 1.00 4.00 4.00 0.01 1.00", util="100.00").replace("0.40", queue))
        notes = find_workload(path).notes
        assert any("busy all the time" in note for note in notes) == is_warned


WHOLE_NUMBERS = """Linux 6.1.0 (db) 	05/04/26 	_x86_64_	(8 CPU)

13:20:09          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
13:20:19          sdr         {ios}         {read}         6         0         {size}         0         3         3
"""


@pytest.mark.parametrize(("ios", "read", "size", "contradicts"), [(8, 3, 1, False), (800, 2400, 1, True)])
def test_whole_numbers_are_coarse(ios, read, size, contradicts):
    """With --dec=0, 8 requests and 9 kB make 1.1 kB each; 800 and 2406 make 3, not 1."""
    (load,) = loads_of_text(WHOLE_NUMBERS.format(ios=ios, read=read, size=size))
    assert any("contradicts" in note for note in load.notes) == contradicts
