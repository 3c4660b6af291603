"""What known programs ask of storage, as descriptions of workloads: logs, an object store, SPC-1's streams."""

from diskmodel.workload.programs.commits import log_of_commits
from diskmodel.workload.programs.object_store import AWAITED, METADATA, uploads
from diskmodel.workload.programs.spc1 import spc1_like

__all__ = ["AWAITED", "METADATA", "log_of_commits", "spc1_like", "uploads"]
