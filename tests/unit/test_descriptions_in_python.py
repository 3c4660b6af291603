"""Arrays and workloads as they are written and shown in Python."""

import pytest

from diskmodel import Array, DescriptionError, Layout, Workload


def test_array_takes_drive_level_and_disks_by_position():
    short = Array("generic-15k", "raid5", 8, strip="256 KiB", spares=1, name="vm")
    layout = {"level": "raid5", "disks": 8, "strip": "256 KiB", "spares": 1}
    assert short == Array.parse({"drive": "generic-15k", "layout": layout, "name": "vm"})


def test_array_still_takes_a_layout_by_name():
    layout = Layout(level="raid10", disks=4)
    assert Array("generic-15k", layout=layout) == Array("generic-15k", "raid10", 4)


def test_repr_fits_a_line():
    array = Array("generic-15k", "raid5", 8)
    assert repr(array) == "<Array: 8 × Generic 15k rpm SAS in raid5, strip 64 KiB, 2.1 TB usable>"
    workload = Workload(name="oltp", size="8 KiB", read_ratio=0.7, rate="500/s")
    assert repr(workload) == "<Workload 'oltp': 8 KiB uniform, 70% reads, 500/s>"


def test_repr_names_streams_where_there_are_several():
    streams = [{"name": "log", "size": "4 KiB", "read_ratio": 0, "clients": 1}, {"size": "8 KiB", "rate": "10/s"}]
    assert repr(Workload(streams=streams)) == (
        "<Workload 'workload': log: 4 KiB uniform, 0% reads, 1 outstanding; stream1: 8 KiB uniform, 100% reads, 10/s>"
    )


def test_notebooks_show_a_table_and_escape_names():
    shown = Array("generic-15k", "raid5", 8, name="<b>")._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "2.1 TB" in shown
    assert "<b>" not in shown
    assert "8 KiB uniform" in Workload(size="8 KiB", clients=1)._repr_html_()


def test_parts_show_what_is_not_their_default():
    array = Array("8x generic-15k raid5, 1GiB cache")
    assert repr(array.layout) == str(array.layout) == "Layout(level='raid5', disks=8)"
    assert repr(array.controller) == "Controller(write_cache=WriteCache(size_bytes=1073741824))"
    assert str(array.host) == "Host()"
    assert repr(array.layout.model_copy(update={"disks": 10})) == "Layout(level='raid5', disks=10)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Array("generic-15k", "raid5", 2), "raid5 needs at least 3 disks"),
        (lambda: Array("generic-15q", "raid5", 8), "did you mean generic-15k"),
        (lambda: Array("generic-15k", "raid5", 8, layout={}), "put level, disks into layout"),
        (lambda: Array("generic-15k", "raid5", 8, strp="64 KiB"), "strp"),
        (lambda: Workload(size=8, clients=1), "has no unit"),
    ],
)
def test_faults_are_those_of_files(call, message):
    with pytest.raises(DescriptionError, match=message):
        call()


def test_a_wrong_call_is_a_type_error_as_elsewhere_in_python():
    with pytest.raises(TypeError, match="at most 3 positional"):
        Array("generic-15k", "raid5", 8, 64)
    with pytest.raises(TypeError, match="drive by position and by name"):
        Array("generic-15k", drive="generic-7k2")
    with pytest.raises(TypeError, match="no positional"):
        Workload("oltp")
