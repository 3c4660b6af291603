"""The command reference documents every command and every option."""

import re
from pathlib import Path

import pytest

from tests.unit.cli.commands import run

REFERENCE = (Path(__file__).parents[3] / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
EVERYWHERE = {"--help", "--json", "--debug"}
#: Documented once for all commands that have it.
OF_LONG_COMMANDS = {"--time-limit"}
COMMANDS = re.findall(r"^## (\w+)$", REFERENCE, re.MULTILINE)


def test_every_command_is_documented() -> None:
    listed = run("--help").stdout.partition("\nPlan and predict:")[2]
    assert sorted(re.findall(r"^  (\w+)  ", listed, re.MULTILINE)) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_documented(command: str) -> None:
    section = REFERENCE.partition(f"\n## {command}\n")[2].partition("\n## ")[0]
    options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", run(command, "--help").stdout, re.MULTILINE))
    assert options >= EVERYWHERE
    assert {option for option in options - EVERYWHERE - OF_LONG_COMMANDS if option not in section} == set()
