"""What the lab answers over HTTP: schema, faults, headers; and to whom."""

import json
import re
import socket
import time
import urllib.parse
from collections.abc import Iterator

import pytest

from diskmodel.errors import DescriptionError
from diskmodel.lab.server import HOST, PAGE, listen, url_of
from tests.unit.lab.serving import ask, fetch, serving


@pytest.fixture(scope="module")
def lab() -> Iterator[str]:
    with serving() as url:
        yield url


def test_a_curve_has_points_with_intervals_and_the_calculators_figure(lab: str) -> None:
    status, answer = ask(lab + "curve", {"outstanding": 8})
    assert status == 200
    assert answer["stage"] == "quick"
    assert answer["engine"] == "native"
    loads = [point["load"] for point in answer["points"]]
    assert loads == sorted(loads)
    assert answer["chosen"]["load"] == 8
    assert answer["chosen"] in answer["points"]
    for point in answer["points"]:
        for figure in ("iops", "mean_ms", "p99_ms"):
            value, low, high = point[figure]
            assert low <= value <= high
        assert 0 < point["utilization_ratio"] <= 1
        parts = sum(point["breakdown_ms"].values())
        assert parts == pytest.approx(point["mean_ms"][0], rel=1e-6)
    # 70 % reads, four operations for a write
    assert answer["calculator"]["back_end_per_host"] == pytest.approx(0.7 + 0.3 * 4)
    assert answer["calculator"]["write_penalty"] == 4
    assert answer["answer_ms"] > 0


def test_commits_are_simulated_wherever_the_log_lies(lab: str) -> None:
    status, rows = ask(lab + "commits", {"drive": "generic-7k2", "clients": 1})
    assert status == 200
    found = {row["place"]: row for row in rows}
    assert found["on"]["commits_per_s"] == pytest.approx(120, rel=0.02)
    assert found["protected"]["mean_ms"][0] < 0.1 < found["mirror"]["mean_ms"][0]
    for drive in ("generic-sas-ssd", "nodrive"):
        status, answer = ask(lab + "commits", {"drive": drive})
        assert status == 422
        assert answer["faults"][0]["field"] == "drive"
    assert ask(lab + "commits", {"clients": 0})[0] == 422


def test_the_same_settings_get_the_same_answer(lab: str) -> None:
    answers = [ask(lab + "curve", {"level": "raid10", "scheduler": "sptf"})[1] for _ in range(2)]
    for answer in answers:
        del answer["answer_ms"]
    assert answers[0] == answers[1]


def test_a_longer_run_narrows_the_intervals(lab: str) -> None:
    def width(stage: str) -> float:
        _, low, high = ask(f"{lab}curve?stage={stage}", {})[1]["chosen"]["iops"]
        return float(high - low)

    assert width("refined") < width("quick") / 2


def test_an_overload_has_no_latency(lab: str) -> None:
    _, answer = ask(lab + "curve", {"arrivals": "rate", "rate_per_s": 100_000})
    assert answer["chosen"]["stable"] is False
    assert answer["chosen"]["p99_ms"] == [None, None, None]
    assert answer["points"][0]["stable"] is True


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"read_ratio": 1.5}, "read_ratio"),
        ({"disks": 7, "level": "raid10"}, "layout.disks"),
        ({"disks": 0}, "disks"),
        ({"drive": "no-such-drive"}, "drive"),
        ({"drive": "../../etc/passwd"}, "drive"),
        ({"drive": "/etc/passwd.toml"}, "drive"),
        ({"size_bytes": 1000}, "size_bytes"),
        ({"level": "erasure"}, "level"),
        ({"outstanding": 1e9}, "outstanding"),
        ({"seed": -1}, "seed"),
        ({"color": "red"}, "color"),
        (b'{"read_ratio": NaN}', "read_ratio"),
        (b'{"rate_per_s": 1e999}', "rate_per_s"),
        (b"{", "body"),
        (b"[1]", "body"),
        (b"\xff\xfe", "body"),
        (b"[" * 60_000, "body"),
        (b" " * 100_000, "body"),
    ],
)
def test_bad_settings_are_reported_with_their_field(lab: str, body: object, field: str) -> None:
    status, answer = ask(lab + "curve", body)
    assert status == 422
    fault = answer["faults"][0]
    assert fault["field"] == field
    assert fault["rule"]
    assert fault["text"]


def test_every_fault_is_reported_at_once(lab: str) -> None:
    status, answer = ask(lab + "curve", {"read_ratio": 2, "disks": 0, "pattern": "zigzag"})
    assert status == 422
    assert {fault["field"] for fault in answer["faults"]} == {"read_ratio", "disks", "pattern"}


def test_half_the_effort_simulates_half_the_requests(lab: str) -> None:
    whole, half = (ask(f"{lab}curve?effort={effort}", {})[1]["n_requests"] for effort in (1, 0.5))
    assert half == pytest.approx(whole / 2, rel=0.01)
    for effort in ("0", "2", "-1", "nan", "much"):
        status, answer = ask(f"{lab}curve?effort={effort}", {})
        assert status == 422
        assert answer["faults"][0]["field"] == "effort"


def test_an_unknown_stage_and_an_unknown_page(lab: str) -> None:
    assert ask(lab + "curve?stage=perfect", {})[0] == 422
    assert fetch(lab + "nowhere")[0] == 404
    assert fetch(lab + "page/../server.py")[0] == 404
    assert fetch(lab + "page/%2e%2e/server.py")[0] == 404
    assert fetch(lab + "curve")[0] == 405


def test_offers_name_only_what_can_be_asked(lab: str) -> None:
    _, offers = ask(lab + "offers")
    assert len(offers["drives"]) >= 50
    for level in offers["levels"]:
        for disks in (level["disks"][0], level["disks"][-1]):
            settings = {"level": level["value"], "disks": disks, "outstanding": 1}
            assert ask(lab + "curve", settings)[0] == 200, settings
        if level["survives"]:
            settings["has_failed_disk"] = True
            assert ask(lab + "curve", settings)[0] == 200, settings
            query = urllib.parse.urlencode({"requests": 30, "settings": json.dumps(settings)})
            assert fetch(f"{lab}moving-head?{query}")[0] == 200
    raid10 = next(level for level in offers["levels"] if level["value"] == "raid10")
    assert all(disks % 2 == 0 for disks in raid10["disks"])
    for scheduler in offers["schedulers"]:
        assert scheduler["text"] != scheduler["value"], "each elevator is named for people"
        assert ask(lab + "curve", {"scheduler": scheduler["value"]})[0] == 200


@pytest.mark.parametrize("host", ["example.org", "evil.example:80", "127.0.0.1.example.org"])
def test_who_names_it_otherwise_gets_nothing(lab: str, host: str) -> None:
    status, _, body = fetch(lab, headers={"Host": host})
    assert status == 400
    assert b"diskmodel lab" not in body


def test_pages_from_elsewhere_get_no_answer(lab: str) -> None:
    assert fetch(lab + "curve", {}, {"Origin": "https://example.org"})[0] == 403
    assert fetch(lab + "curve", {}, {"Origin": "null"})[0] == 403
    assert fetch(lab + "curve", {}, {"Origin": lab.rstrip("/")})[0] == 200


def test_it_listens_on_the_loopback_address_only() -> None:
    with listen() as sock:
        assert sock.getsockname()[0] == HOST == "127.0.0.1"
        assert url_of(sock) == f"http://127.0.0.1:{sock.getsockname()[1]}/"


def test_a_port_that_is_taken_is_reported() -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        with pytest.raises(DescriptionError) as message:
            listen(other.getsockname()[1])
    assert message.value.faults[0].field == "port"


def test_pages_may_load_nothing_from_elsewhere(lab: str) -> None:
    _, headers, _ = fetch(lab)
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    for file in PAGE.iterdir():
        without_names = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|@import|url\((?!data:|#)", without_names), file


def test_the_moving_head_is_a_page_or_a_file(lab: str) -> None:
    status, headers, page = fetch(lab + 'moving-head?settings={"disks":4}&requests=20')
    assert status == 200
    assert b"The moving head" in page
    assert "content-disposition" not in {name.lower() for name in headers}
    _, headers, saved = fetch(lab + 'moving-head?settings={"disks":4}&requests=20&save=1')
    assert saved == page
    assert headers["content-disposition"] == 'attachment; filename="schedulers.html"'
    status, _, page = fetch(lab + 'moving-head?show=small_write&settings={"level":"raid10"}')
    assert status == 200
    assert b"One small write" in page


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ('settings={"drive":"generic-sas-ssd"}', b"no single arm"),
        ("schedulers=fcfs,lift", b"scheduler"),
        ("schedulers=", b"one or two names"),
        ("requests=0", b"requests=0"),
        ("requests=many", b"requests"),
        ("show=all", b"show"),
        ("settings=%3Cb%3E", b"not JSON"),
        ('settings={"drive":"%3Cb%3Ex"}', b"&lt;b&gt;x"),
    ],
)
def test_what_cannot_be_played_is_reported_in_its_place(lab: str, query: str, message: bytes) -> None:
    status, _, page = fetch(f"{lab}moving-head?{query}")
    assert status == 422
    assert message in page
    assert b"<b>x" not in page


def test_a_scene_is_recorded_and_bad_ones_are_refused(lab: str) -> None:
    status, scene = ask(lab + "scene", {"settings": {"disks": 6, "level": "raid5"}, "scene": "write"})
    assert status == 200
    assert [len(disk["movements"]) for disk in scene["disks"]].count(0) == 4
    for body, said in (
        ({"settings": {"disks": 4}, "scene": "flood"}, "is not a known scene"),
        ({"settings": {"level": "raid0"}, "scene": "failed"}, "raid0"),
        ({"settings": [1]}, "is not an object"),
        ({"settings": {"drive": "generic-sas-ssd"}}, "no single arm"),
    ):
        status, answer = ask(lab + "scene", body)
        assert status == 422
        assert said in answer["faults"][0]["text"]


def test_a_reader_who_leaves_in_the_middle_of_a_request_is_no_news(lab: str, caplog: pytest.LogCaptureFixture) -> None:
    address = urllib.parse.urlsplit(lab)
    for _ in range(3):
        with socket.create_connection((address.hostname, address.port), timeout=5) as sock:
            head = f"POST /curve HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: 1000\r\n\r\n{{"
            sock.sendall(head.encode())
            time.sleep(0.1)
    status, _ = ask(lab + "curve", {"outstanding": 8})
    assert status == 200
    assert not [record for record in caplog.records if record.exc_info]
