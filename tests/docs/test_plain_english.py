"""Pages, examples and sources avoid phrases that nobody says in English, and spell as Americans do."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: Phrases to avoid, and what to write instead.
AVOID = {
    r"\b(?:un)?told\b": "reported, known, unknown",
    r"\btells?\b|\btelling\b": "reports, shows, determines",
    r"\bheld against\b": "compared with, validated against",
    r"\b(?:kept|keep|keeps|holds?) (?:a part of the evidence )?back\b": "held out",
    r"\bwanted\b": "requested, required",
    r"\bhas need of\b|\bhave need of\b": "needs",
    r"\bthe dear (?:one|ones)\b": "the expensive one",
    r"\bby chance\b": "at random, independently",
    r"\bhangs? together\b": "depends on each other",
    r"\bworks? off\b": "processes",
    r"\bknows? no\b": "ignores",
    r"\b99 of 100\b(?! requests complete)": "p99 latency",
    r"\bcalculators? (?:grants?|promises?|asks? for|knows?)\b": "the rule of thumb predicts, needs, ignores",
    r"\bnot identified by\b": "cannot be determined from",
    r"\bmay have none\b|\bthere is none of\b": "cannot have",
    r"\bin the place of\b": "instead of",
    r"\bstands? (?:in|on|beside|there|under|for itself)\b": "is in, has",
    r"\blies? beside\b": "is next to",
    r"\bon (?:its|their) way\b": "in flight, being fetched",
    r"\bcomes? out (?:at|within|\d)": "is",
    r"\bthat there (?:is|are)\b(?! no)": "that exist",
    r"\bif need be\b": "if necessary",
    r"\bunder way\b": "in progress",
    r"\bplanted faults?\b": "mutant",
}
#: British spellings, except those in names that users rely on.
BRITISH = (
    r"\b(?:modell(?:ed|ing)|behaviours?|colour(?:s|ed)?|neighbour(?:s|ing)?|favour\w*|honour\w*|centre[sd]?|"
    r"(?:anal|paral)ys(?:e|ed|ing)|(?:recogni|utili|organi|summari|normali|initiali|minimi|maximi|annuali)"
    r"s(?:e|es|ed|ing|ation)|licence|misspelt|judgement|ageing)\b"
)
#: Code, links and commands of a page.
QUOTED = re.compile(r"^( *)```.*?^\1```|`[^`]{1,100}`|<!--.*?-->|\]\([^)\n]*\)", re.MULTILINE | re.DOTALL)

PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "mkdocs.yml")),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "tests" / "data").glob("*.md"),
    ]
)
EXAMPLES = sorted([*(ROOT / "examples").rglob("*.toml"), *(ROOT / "examples").rglob("*.ipynb")])
SOURCES = sorted(
    path
    for folder in ("docs", "examples", "diskmodel", "calibrate", "tests")
    for suffix in ("py", "pyi", "rs")
    for path in (ROOT / folder).rglob(f"*.{suffix}")
    if path != Path(__file__)
)
#: Comments and strings of Rust. A string may span lines; a raw string is read as a plain one.
RUST_TEXT = re.compile(r'//[^\n]*|"(?:[^"\\]|\\.)*"', re.DOTALL)
#: Sources that may still use a phrase, by path from the root. It must only become shorter.
ALLOWED: dict[str, set[str]] = {
    "diskmodel/workload/trace.py": {r"\bif need be\b"},
}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _folder(path: Path) -> str:
    return "/".join(path.relative_to(ROOT).parent.parts[:2])


def prose(path: Path) -> str:
    """Return a page with blanks instead of its code and links, so that its lines keep their numbers."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return QUOTED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return re.sub(r"^( *)#", r"\1 ", text, flags=re.MULTILINE)


def strings_and_comments(path: Path) -> str:
    """Return the strings and comments of a source in Python or Rust, each on its line."""
    text = path.read_text(encoding="utf-8")
    return strings_and_comments_of_rust(text) if path.suffix == ".rs" else strings_and_comments_of_python(text)


def strings_and_comments_of_rust(text: str) -> str:
    lines = [""] * (text.count("\n") + 2)
    for found in RUST_TEXT.finditer(text):
        for number, line in enumerate(found[0].splitlines(), text.count("\n", 0, found.start())):
            lines[number] += " " + line.strip(' "/!')
    return "\n".join(lines)


def strings_and_comments_of_python(text: str) -> str:
    lines = [""] * (text.count("\n") + 2)
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds:
            for number, line in enumerate(token.string.splitlines(), token.start[0]):
                lines[number - 1] += " " + line.strip(" \"#'")
    return "\n".join(lines)


def findings(text: str, allowed: Iterable[str] = ()) -> list[str]:
    """Return each phrase to avoid with its line and what to write instead; a phrase may continue on the next line."""
    found = []
    advice = {**AVOID, BRITISH: "the American spelling"}
    for pattern, instead in advice.items():
        if pattern not in allowed:
            for match in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE):
                number = text.count("\n", 0, match.start()) + 1
                found.append(f"{number}: “{' '.join(match[0].split())}”; write {instead}")
    return found


@pytest.mark.parametrize("path", [*PAGES, *EXAMPLES], ids=relative)
def test_a_page_is_in_plain_english(path: Path) -> None:
    found = findings(prose(path))
    assert not found, f"{relative(path)}:\n" + "\n".join(found)


# a test of each of a thousand files would take longer to start than to run
@pytest.mark.parametrize("folder", sorted({_folder(path) for path in SOURCES}))
def test_sources_are_in_plain_english(folder: str) -> None:
    found = [
        f"{relative(path)}: {finding}"
        for path in SOURCES
        if _folder(path) == folder
        for finding in findings(strings_and_comments(path), ALLOWED.get(relative(path), ()))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", ALLOWED)
def test_an_allowed_phrase_still_occurs(name: str) -> None:
    text = strings_and_comments(ROOT / name)
    assert all(re.search(pattern.replace(" ", r"\s+"), text, re.IGNORECASE) for pattern in ALLOWED[name])


@pytest.mark.parametrize(
    "line",
    [
        "The error is told.",
        "the profile is held against other measurements",
        "what was kept back",
        "at least 2,500 GB wanted",
        "requests come by chance",
        "A calculator knows\nno queueing",
        "the behaviour is modelled",
    ],
)
def test_a_calque_is_noticed(line: str) -> None:
    assert findings(line)


def test_rust_is_read_without_its_code() -> None:
    source = 'let told = 1; // on its way\n/// Two lines: if\n/// need be\nlet s = "a \\" wanted"; let u = told;\n'
    assert [found.split(":")[0] for found in findings(strings_and_comments_of_rust(source))] == ["4", "1", "2"]


def test_plain_english_passes() -> None:
    assert not findings("The p99 latency is 80 ms; the held-out runs are compared with the model.")
