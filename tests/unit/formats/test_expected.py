"""Small files that once were read wrong without a word, or were not recognized: each gives what it must."""

import tomllib

import pytest

from diskmodel.errors import FormatError
from diskmodel.formats import find_workload, load_trace
from diskmodel.formats.pools import pools_of_text
from diskmodel.workload import Workload
from tests.unit.formats.files import DATA

EXPECTED = {
    folder: tomllib.loads((DATA / f"expected{number}.toml").read_text())
    for folder, number in (("minimal-files", ""), ("minimal-files-2", "-2"))
}


@pytest.mark.evidence
@pytest.mark.parametrize(("folder", "name"), [(folder, name) for folder, rows in EXPECTED.items() for name in rows])
def test_a_minimal_file(folder, name, evidence):
    expected = EXPECTED[folder][name]
    path = evidence / folder / name.partition(" ")[0]
    if "error" in expected:
        with pytest.raises(FormatError) as error:
            find_workload(path)
        assert "belongs to no measurement" not in str(error.value)
        assert all(part in str(error.value) for part in expected["error"])
        return
    found = find_workload(path, device=expected.get("device"))
    assert Workload.parse(found.workload).streams
    if "kind" in expected:
        assert found.kind == expected["kind"]
    if expected.get("response_unknown"):
        assert (load_trace(path).requests.response_ns == -1).all()
        return
    streams = found.workload["streams"]
    if "closed" in expected:
        assert [stream["arrival"].get("clients") for stream in streams] == expected["closed"]
    else:
        assert [_rate(stream["arrival"]) for stream in streams] == pytest.approx(expected["open"], rel=1e-3)
    assert [size["size_bytes"] for stream in streams for size in stream["sizes"]] == expected["sizes"]
    assert [stream["read_ratio"] for stream in streams] == pytest.approx(expected["reads"], abs=1e-3)
    if "patterns" in expected:
        assert [stream.get("addresses", {}).get("pattern", "") for stream in streams] == expected["patterns"]
    if "span" in expected:
        assert [stream["span_bytes"] for stream in streams] == [expected["span"]] * len(streams)
    if "alignment" in expected:
        assert [stream["alignment_bytes"] for stream in streams] == [expected["alignment"]] * len(streams)
    for part in expected.get("notes", []):
        assert any(part in note for note in found.notes), part
    for part in expected.get("without", []):
        assert not any(part in note for note in found.notes), part


def _rate(arrival):
    if arrival["kind"] == "given":
        return 1e9 / arrival["inter_arrival_ns"][0]
    return arrival["rate_per_s"]


@pytest.mark.evidence
def test_every_row_is_here(evidence):
    rows = (evidence / "minimal-files" / "EXPECTED.tsv").read_text().split("\n")
    named = {row.partition("\t")[0] for row in rows if row and not row.startswith("unknown-*")}
    unknown = {path.name for path in (evidence / "minimal-files").glob("unknown-*")}
    assert named | unknown == {name.partition(" ")[0] for name in EXPECTED["minimal-files"]}
    rows = (evidence / "minimal-files-2" / "EXPECTED.tsv").read_text().split("\n")[1:]
    of_pools = {"zpool-expansion.txt"}
    named = {row.partition("\t")[0] for row in rows if row} - of_pools
    assert named == {name.partition(" ")[0] for name in EXPECTED["minimal-files-2"]}


@pytest.mark.evidence
def test_the_expansion_of_a_pool(evidence):
    path = evidence / "minimal-files-2" / "zpool-expansion.txt"
    (pool,) = pools_of_text(path.read_text(), str(path))
    assert any("an expansion is in progress" in note and "20.33% done, 19:04:21" in note for note in pool.notes)
