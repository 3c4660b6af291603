"""Commands run in this process, and in one of their own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from diskmodel.cli.app import app
from diskmodel.engine.ledger import question

EXAMPLES = Path(__file__).parents[3] / "examples"


def run(*words: object) -> Result:
    """Run a command; a traceback of the test is better than one that is swallowed."""
    return CliRunner().invoke(app, [str(word) for word in words])


def briefly(*words: object) -> Result:
    """Run a command whose figures no test looks at, with a tenth of a second for all that it simulates."""
    with question(0.1):
        return run(*words)


def answer(*words: object, status: int = 0) -> dict[str, Any]:
    """The one JSON document of a command that ends with `status`."""
    done = run(*words, "--json")
    assert done.exit_code == status, done.stderr
    document = json.loads(done.stdout, parse_constant=_no_number)
    assert isinstance(document, dict)
    return document


def refusal(*words: object, status: int = 2) -> str:
    """What a command that ends with `status` says, without an answer."""
    done = run(*words)
    assert done.exit_code == status, done.stdout + done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr


def process(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command as a user starts it."""
    command = [sys.executable, "-m", "diskmodel", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)


def write(path: Path, text: str) -> Path:
    """A file with that text."""
    path.write_text(text, encoding="utf-8")
    return path


def _no_number(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")
