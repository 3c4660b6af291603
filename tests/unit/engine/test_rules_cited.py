"""Every rule that code cites is on a semantics page, once, and the rules of the page are in order."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs" / "reference").glob("semantics*.md"))
SOURCES = [p for p in (ROOT / "diskmodel").rglob("*") if p.suffix in (".py", ".rs")]
CITATION = re.compile(r"\brules? ((?:[A-Z]\d+(?:, | and | to |,)?)+)")
RULE = re.compile(r"\b[A-Z]\d+\b")


def defined() -> list[str]:
    return [rule for page in PAGES for rule in re.findall(r"^\*\*([A-Z]\d+)\b", page.read_text(), re.MULTILINE)]


def test_each_rule_is_stated_once_and_in_order() -> None:
    rules = defined()
    assert [rule for rule, n in Counter(rules).items() if n > 1] == []
    for letter in {rule[0] for rule in rules}:
        numbers = [int(rule[1:]) for rule in rules if rule[0] == letter]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_cited_rules_exist() -> None:
    known, unknown = set(defined()), {}
    for source in SOURCES:
        cited = {rule for listing in CITATION.findall(source.read_text()) for rule in RULE.findall(listing)}
        if cited - known:
            unknown[str(source.relative_to(ROOT))] = cited - known
    assert unknown == {}
