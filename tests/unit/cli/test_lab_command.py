"""`diskmodel lab` as a process: it prints its address, serves, and stops cleanly."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from tests.unit.cli.commands import refusal


@pytest.mark.parametrize(("ending", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_serves_until_it_is_stopped(ending: signal.Signals, status: int) -> None:
    command = [sys.executable, "-m", "diskmodel", "lab", "--no-browser", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        with urllib.request.urlopen(printed["url"], timeout=30) as answer:
            assert b"diskmodel lab" in answer.read()
        process.send_signal(ending)
        rest, messages = process.communicate(timeout=30)
    assert process.returncode == status
    assert rest == ""
    assert printed["url"] in messages
    assert "Traceback" not in messages
    assert ("the lab has stopped" in messages) == (status == 0)
    with socket.socket() as again:
        assert again.connect_ex(("127.0.0.1", printed["port"])) != 0, "nothing listens any more"


def test_ends_well_in_the_middle_of_an_answer() -> None:
    command = [sys.executable, "-m", "diskmodel", "lab", "--no-browser", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        with socket.create_connection(("127.0.0.1", printed["port"])) as reader:
            body = b'{"disks": 64, "level": "raid60"}'
            reader.sendall(
                b"POST /curve?stage=refined HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(body)
                + body
            )
            reader.settimeout(0.1)
            with pytest.raises(TimeoutError):  # the answer takes longer than this
                reader.recv(1)
            process.send_signal(signal.SIGINT)
            _, messages = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in messages
    assert "ERROR" not in messages


def test_opens_the_browser_that_is_there(tmp_path: os.PathLike[str]) -> None:
    seen = os.path.join(tmp_path, "seen")
    command = [sys.executable, "-m", "diskmodel", "lab"]
    # webbrowser takes a command line with %s for the address
    environment = {
        **os.environ,
        "BROWSER": f"{sys.executable} -c \"import sys; open('{seen}','w').write(sys.argv[1])\" %s",
    }
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        for _ in range(300):
            if os.path.exists(seen) and os.path.getsize(seen):
                break
            try:
                process.wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                continue
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 0
    with open(seen) as file:
        assert file.read() in line


def test_a_port_that_is_taken_is_bad_input() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        message = refusal("lab", "--no-browser", "--port", other.getsockname()[1])
    assert message.startswith("error: port=")


def test_a_drive_that_cannot_be_read_is_bad_input() -> None:
    assert refusal("lab", "--no-browser", "--drive", "nowhere.toml").startswith("error: drive='nowhere.toml'")
