"""A log of commits as options of a command describe it: what they leave out."""

from __future__ import annotations

from typing import Any

#: Name of the stream.
LOG = "log"
#: Bytes of a record where none are given: two or three changed rows. A log is written in blocks of 4 KiB: half or
#: double changes nothing for single commits; a batch of hundreds is written in half or double the blocks.
RECORD_BYTES = 512
#: Part of the array that the log is written round and round in: PostgreSQL's `max_wal_size` by default. At half or
#: double the heads stay where they are, within a thousandth of a disk.
SPAN_BYTES = 1 << 30


def log_of_commits(**given: Any) -> dict[str, Any]:
    """Return the fields of a stream of commits: those that are given and not None, and the defaults of others."""
    stated = {key: value for key, value in given.items() if value is not None}
    defaults = {"record_bytes": RECORD_BYTES, "span_bytes": SPAN_BYTES}
    left_out = {key: value for key, value in defaults.items() if key.removesuffix("_bytes") not in stated}
    return {"name": LOG, "kind": "commits"} | left_out | stated
