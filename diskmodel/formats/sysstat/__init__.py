"""Load of disks over time as iostat, sar, sadf and /proc/diskstats report it."""

from diskmodel.formats.sysstat.reader import KINDS, kind_of, loads_of_text, read_sysstat, without_stray_commas

__all__ = ["KINDS", "kind_of", "loads_of_text", "read_sysstat", "without_stray_commas"]
