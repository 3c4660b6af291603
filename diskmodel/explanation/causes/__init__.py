"""Everything that may make an array slower, or faster, than its description: the list, and what each one changes."""

from __future__ import annotations

from diskmodel.explanation.causes.cause import Cause
from diskmodel.explanation.causes.drives import DRIVES
from diskmodel.explanation.causes.loads import LOADS
from diskmodel.explanation.causes.members import MEMBERS
from diskmodel.explanation.causes.paths import PATHS
from diskmodel.explanation.causes.pools import POOLS
from diskmodel.explanation.causes.systems import SYSTEMS

#: Every cause, by its name.
CAUSES: dict[str, Cause] = {cause.name: cause for cause in (*DRIVES, *MEMBERS, *POOLS, *PATHS, *LOADS, *SYSTEMS)}

__all__ = ["CAUSES", "Cause"]
