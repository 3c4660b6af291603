"""A plan in few words: only what differs from what would be taken anyway."""

from __future__ import annotations

from typing import Any

from diskmodel.description import Description, toml_text
from diskmodel.drive import Drive, catalogue
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.server import ServerPlan

#: Fields that determine which of several forms a table has; needed also where they are a form's own default.
_FORMS = ("kind", "pattern")


def short_toml(plan: PlanDescription | ServerPlan) -> str:
    """TOML text of which `load` makes the same plan, without defaults; catalogue drives by name."""
    data = _without_defaults(plan.to_dict(), plan.model_dump(mode="json", exclude_none=True, exclude_defaults=True))
    data["candidates"]["drives"] = [
        _named(drive)
        or _without_defaults(drive.to_dict(), drive.model_dump(mode="json", exclude_none=True, exclude_defaults=True))
        for drive in plan.candidates.drives
    ]
    return toml_text(data)


def short_text(described: Description) -> str:
    """TOML text of which `load` makes the same description, without defaults."""
    changed = described.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return toml_text(_without_defaults(described.to_dict(), changed))


def _named(drive: Drive) -> str | None:
    """The catalogue's name of a drive that is exactly the catalogue's."""
    found = catalogue()
    return next((name for name in found if found[name] == drive), None)


def _without_defaults(whole: Any, changed: Any) -> Any:
    """Return `changed` with the fields of `whole` that determine the form of a table."""
    if isinstance(changed, dict) and isinstance(whole, dict):
        forms = {key: whole[key] for key in _FORMS if key in whole}
        kept = {key: _without_defaults(whole[key], value) for key, value in changed.items() if key in whole}
        return forms | kept
    if isinstance(changed, list) and isinstance(whole, list):
        return [_without_defaults(a, b) for a, b in zip(whole, changed, strict=True)]
    return changed
