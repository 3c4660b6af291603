"""Load of disks over time as monitoring programs other than sysstat record it."""

from diskmodel.formats.recorders.registry import KINDS, RECORDERS, kind_of, loads_of_text, read_recording

__all__ = ["KINDS", "RECORDERS", "kind_of", "loads_of_text", "read_recording"]
