"""What a command loads before it does anything: modules that it does not need would be most of a short answer's time.

Nothing here reads a clock. A module of the standard library takes about 0.5 ms, NumPy 90 ms, pydantic 70 ms and rich
30 ms of processor time (November 2026); `import typer`, without which there is no command, takes 40 ms.
"""

import inspect
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest
import typer

from diskmodel import cli
from diskmodel.cli.app import COMMANDS, app
from diskmodel.cli.shared.console import _fits, show
from diskmodel.cli.shared.screen import Screen
from tests.unit.cli.commands import EXAMPLES

RULE = (
    "rule",
    "--level",
    "raid5",
    "--disks",
    "120",
    "--iops",
    "10000",
    "--reads",
    "60%",
    "--utilization-ceiling",
    "85%",
)
SIMULATE = ("simulate", EXAMPLES / "raid5.toml", "--workload", EXAMPLES / "oltp.toml", "--requests", 200, "--json")
PLAN = ("plan", EXAMPLES / "plan-sizing-5-disks.toml", "--nominal")
#: Writes the names of all modules that the process has loaded to standard error, whatever the command does.
CODE = """
import sys
before = set(sys.modules)
{what}
print(" ".join(sorted(set(sys.modules) - before)), file=sys.stderr)
"""
MAIN = "from diskmodel.cli import main\ntry: main()\nexcept SystemExit as ending: assert not ending.code"
HEAVY = {"asyncio", "matplotlib", "multiprocessing", "scipy", "simpy", "tomlkit"}


def loaded(what: str, *words: object) -> set[str]:
    """Return the modules that some code loads in a process of its own."""
    command = [sys.executable, "-c", CODE.format(what=what), *map(str, words)]
    environment = os.environ | {"COLUMNS": "100"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, env=environment)
    return set(done.stderr.splitlines()[-1].split())


@pytest.fixture(scope="module")
def of_typer() -> set[str]:
    """Return what the library of the command line loads."""
    return loaded("import typer")


@pytest.mark.parametrize(
    ("words", "most"), [(("--help",), 30), (("--version",), 30), (RULE, 45), ((*RULE, "--json"), 45)]
)
def test_short_commands_load_little_beside_the_command_line(
    of_typer: set[str], words: tuple[str, ...], most: int
) -> None:
    found = loaded(MAIN, *words)
    assert sorted(found & (HEAVY | {"numpy", "pydantic", "pydantic_core", "rich"})) == []
    assert len(found - of_typer) <= most, sorted(found - of_typer)


@pytest.mark.parametrize("words", [SIMULATE, ("drives", "generic-15k", "--json")], ids=lambda words: str(words[0]))
def test_other_commands_load_what_they_use(words: tuple[object, ...]) -> None:
    found = loaded(MAIN, *words)
    assert "numpy" in found
    assert sorted(found & (HEAVY | {"rich", "diskmodel.formats", "diskmodel.plan", "diskmodel.lab", "jinja2"})) == []


@pytest.mark.parametrize("words", [SIMULATE[:-1], PLAN], ids=lambda words: str(words[0]))
def test_a_table_needs_no_pictures(words: tuple[object, ...]) -> None:
    found = loaded(MAIN, *words)
    assert "rich" in found
    assert sorted(found & {"asyncio", "matplotlib", "scipy", "simpy", "diskmodel.lab"}) == []


def test_the_list_of_commands_is_that_of_the_modules() -> None:
    listed = [name for commands in COMMANDS.values() for name in commands]
    assert len(listed) == len(set(listed))
    folder = [Path(cli.__file__).parent]
    modules = {found.name for found in iter_modules(map(str, folder)) if not found.ispkg} - {"app"}
    assert set(listed) == modules
    group: Any = typer.main.get_command(app)
    assert list(group.commands) == listed
    assert len(group.commands) == len(listed)
    for name in listed:
        command, function = group.commands[name], getattr(import_module(f"diskmodel.cli.{name}"), name)
        assert command.name == name
        assert command.help == inspect.getdoc(function)
        assert command is group.commands[name]
    assert group.commands.get("nonsense") is None


LINES = ("plain", "  indented, × − … ü", "trailing ", "x" * 100)


def test_short_lines_are_printed_as_rich_prints_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert all(map(_fits, LINES))
    show(*LINES)
    quickly = capsys.readouterr().out
    for line in LINES:
        Screen.of(100, is_error=False).show(line)
    assert quickly == capsys.readouterr().out


@pytest.mark.parametrize("line", ["", "x" * 101, "表" * 51, "two\nlines", "tab\t", "\x1b[31mred", "\ud800"])
def test_other_lines_are_left_to_rich(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert not _fits(line)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("--iops=07.50", 7.5),
        ("--iops=1_000", 1000.0),
        ("--iops=+1e3", 1000.0),
        ("--disks=12", 12),
        ("--disks= 12 ", 12),
    ],
)
def test_words_are_converted_alike_with_and_without_the_library(text: str, meant: float) -> None:
    group: Any = typer.main.get_command(app)
    context = group.commands["rule"].make_context("rule", ["--reads", "60%", text])
    value = context.params[text[2:].partition("=")[0]]
    assert (value, type(value)) == (meant, type(meant))
