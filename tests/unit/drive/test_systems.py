"""Drives that are whole systems: saved and loaded again."""

from __future__ import annotations

from pathlib import Path

import pytest

from diskmodel import Array
from diskmodel.plan.question.short_toml import short_text

SYSTEMS = (
    "6x seagate-exos-x18 raid10, cached by 2x micron-7450-pro-1920 raid1 (bcache writeback, 20% dirty)",
    "ceph 6 nodes, 2x samsung-pm983-1920 each, replica 3, 25GbE",
)


@pytest.mark.parametrize("words", SYSTEMS)
def test_a_file_of_a_system_describes_the_same(words: str, tmp_path: Path) -> None:
    array = Array(words)
    for text in (array.to_toml(), short_text(array)):
        (tmp_path / "array.toml").write_text(text)
        assert Array.load(tmp_path / "array.toml") == array
