"""How an array spreads blocks over its disks, as the user writes it: one record of keys, whose level decides its kind.

Each kind (`kinds.py`) has a folder with its fields, its refusals and its card. All kinds have all keys: which of them
belong to another kind is a rule, so that a wrong one gets a sentence of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Self

from pydantic import ModelWrapValidatorHandler, model_validator

from diskmodel.description import Description
from diskmodel.layout.card import Card
from diskmodel.layout.keys import Keys
from diskmodel.layout.levels import KINDS, RaidLevel, draid_counts, level_name
from diskmodel.layout.passes import Rebuild
from diskmodel.layout.shape import Shape

#: What programs call passes over the disks of an array, and the action of a rebuild that each is.
_PASSES = {"scrub": "check", "resilver": "recover", "check": "check", "resync": "resync"}
#: Levels and numbers of disks whose kind is kept: a plan asks for each of hundreds some times.
_KEPT_KINDS = 4096


@cache
def _volumes() -> tuple[type[Layout], ...]:
    volumes: tuple[type[Layout], ...] = import_module("diskmodel.layout.kinds").VOLUMES
    return volumes


@lru_cache(maxsize=_KEPT_KINDS)
def _of_level(level: str, disks: int | None) -> type[Layout]:
    return next(kind for kind in _volumes() if kind.takes(KINDS[level], disks))


class Layout(Card, Keys):
    """RAID level, disks, strip: a call, and what is parsed, is of the kind that its level and its disks decide."""

    @staticmethod
    def kinds() -> tuple[type[Layout], ...]:
        """Return all kinds, the first that takes a level first.

        They are loaded by name when they are asked for: they are above this class, and a package that loads them itself
        would load pydantic for whoever only wants the list of levels.
        """
        return _volumes()

    @classmethod
    def of_level(cls, level: str, disks: int | None = None) -> type[Layout]:
        """Return the kind of a level; with so many disks, where their number is known."""
        return _of_level(level, disks)

    def _of_its_kind(self) -> Self:
        """Return the same description as one of its kind."""
        kind = self.of_level(self.level, self.disks)
        if type(self) is kind:
            return self
        return kind.model_construct(set(self.model_fields_set), **dict(self))  # type: ignore[return-value]

    def __repr_name__(self) -> str:
        return "Layout"

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values of some fields: of another kind where its level or its disks say so."""
        return super().model_copy(update=update, deep=deep)._of_its_kind()

    @model_validator(mode="before")
    @classmethod
    def _counts_of_draid(cls, data: Any) -> Any:
        """Take the counts out of a level such as "draid2:8d:11c:1s"."""
        found = draid_counts(data.get("level")) if isinstance(data, Mapping) else None
        if found is None:
            return data
        level, counts = found
        given: dict[str, Any] = {"level": level}
        for letter, name in (("d", "data_disks"), ("s", "distributed_spares")):
            if letter in counts and data.get(name, counts[letter]) != counts[letter]:
                raise ValueError(f"{name}={data[name]}: differs from {data['level']}; remove one of them")
            given |= {name: counts[letter]} if letter in counts else {}
        if unknown := sorted(set(counts) - set("dcs")):
            what = "failure domains are not modeled" if unknown == ["w"] else "only d, c and s are known"
            raise ValueError(f"level={data['level']}: {what}; write for example draid2:8d:11c:1s")
        vdevs = data.get("vdevs", 1)
        disks = data.get("disks", counts.get("c", 0) * vdevs if isinstance(vdevs, int) else None)
        if "c" in counts and isinstance(vdevs, int) and disks != counts["c"] * vdevs:
            rule = f"{vdevs} vdevs of {data['level']} have {counts['c'] * vdevs}" if vdevs > 1 else data["level"]
            raise ValueError(f"disks={disks}: differs from {rule}; change one of them")
        return {**data, **given, **({"disks": disks} if disks else {})}

    @model_validator(mode="before")
    @classmethod
    def _passes_are_rebuilds(cls, data: Any) -> Any:
        """Refuse passes over all disks that are written under their own names, and say where they belong."""
        if isinstance(data, Mapping):
            for name, action in _PASSES.items():
                if name in data:
                    raise ValueError(f'{name}: is not a known field; write rebuild = {{ action = "{action}" }} instead')
        return data

    @model_validator(mode="after")
    def _check(self) -> Self:
        # whether data is lost is known only for a valid shape
        if problem := self._shape_problem() or self._failure_problem():
            raise ValueError(problem)
        return self

    # the last one: it stands around the others
    @model_validator(mode="wrap")
    @classmethod
    def _as_its_kind(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Any:
        """Have the kind of the level in `data` check it."""
        if cls is not Layout or not isinstance(data, Mapping):
            return handler(data)
        counted = draid_counts(data.get("level"))
        level = level_name(data.get("level")) if counted is None else counted[0]
        is_known = isinstance(level, str) and level in KINDS
        kind = cls.of_level(level) if is_known else cls.kinds()[-1]
        return kind.model_validate(data)._of_its_kind()

    def _shape_problem(self) -> str | None:
        """Return which field belongs to another kind, or does not fit the others; None where all fit."""
        for kind in self.kinds():
            for name in () if isinstance(self, kind) else kind.only:
                if (value := getattr(self, name)) is not None:
                    given = name if isinstance(value, Description) else f"{name}={value}"
                    return f"{given}: belongs to {kind.in_words}, not to {self.level}; remove it"
        return self.field_problem() or self.shape.problem() or self.count_problem()

    def _failure_problem(self) -> str | None:
        lost = self.failed
        if self.rebuild is not None and (problem := self.rebuild_problem(self.rebuild)):
            return problem
        if any(not 0 <= disk < self.disks for disk in lost):
            return f"failed={list(lost)}: disks are numbered 0 to {self.disks - 1}; name existing ones"
        if len(set(lost)) != len(lost):
            return f"failed={list(lost)}: a disk is named twice; name each once"
        if self.rebuild is not None and self.rebuild.action != "recover":
            return self._check_problem(self.rebuild)
        if self.rebuild is not None and not lost:
            return "rebuild: no disk has failed; name it in failed"
        if self.rebuild is not None and self.rebuild.disk is not None and self.rebuild.disk not in lost:
            return f"rebuild.disk={self.rebuild.disk}: is not among failed={list(lost)}; name a failed disk"
        if self.loses_data:
            return (
                f"failed={list(lost)}: {self.level} has lost data with these disks; fewer failures or more redundancy"
            )
        return None

    def _check_problem(self, rebuild: Rebuild) -> str | None:
        """Return what is wrong with a pass over an array of which no disk is missing."""
        action = f"rebuild.action={rebuild.action!r}"
        if self.failed:
            return f"{action}: disks have failed; remove them from failed, or rebuild one with action = 'recover'"
        if rebuild.disk is not None:
            return f"rebuild.disk={rebuild.disk}: {rebuild.action} goes through all disks; remove it"
        if not self.kind.is_redundant:
            return f"{action}: {self.level} has nothing to compare; remove rebuild"
        if self.arrangement == "far":
            return f"{action}: is not modeled for far copies; use near ones"
        return None

    @property
    def shape(self) -> Shape:
        """Return the level with its counts."""
        groups, data, spares = self.vdevs or self.groups, self.data_disks, self.distributed_spares
        return Shape(self.level, self.disks, self.copies, groups, self.n_parity, data, spares)

    @property
    def kind(self) -> RaidLevel:
        """Return the level's entry in the list of levels."""
        return KINDS[self.level]

    @property
    def n_copies(self) -> int:
        """Number of copies of each block."""
        return self.shape.n_copies

    @property
    def n_groups(self) -> int:
        """Parity groups, or vdevs of a pool (1 where the level has none)."""
        return self.shape.n_groups

    @property
    def group_disks(self) -> int:
        """Number of disks of one parity group, or vdev."""
        return self.shape.group_disks

    @property
    def parity_strips(self) -> int:
        """Number of parity strips of one row (0 without parity)."""
        return self.shape.parity_strips

    @property
    def data_strips(self) -> int:
        """Number of data strips of one row of a parity group; of dRAID of one of its groups."""
        return self.shape.data_strips

    @property
    def spare_places(self) -> int:
        """Number of distributed spares of one vdev of dRAID."""
        return self.shape.spare_places

    @property
    def spares_to_rebuild(self) -> int:
        """Hot spares that a rebuild needs: those that are described, or else one; none where spares are distributed."""
        return self.spares if self.spare_places else max(self.spares, 1)

    @property
    def rebuilds_at_once(self) -> float:
        """How much of a lost disk is rebuilt while a disk transfers once; 1 but onto a distributed spare.

        There every other disk reads or writes its share of what the lost disk's groups have.
        """
        if not self.spare_places:
            return 1.0
        return (self.group_disks - 1) / (self.data_strips + self.parity_strips)

    @property
    def loses_data(self) -> bool:
        """Whether the failed disks had all copies of a block, or more strips of a row than parity replaces."""
        lost = set(self.failed)
        if not self.kind.is_redundant:
            return bool(lost)
        if self.parity_strips:
            per_group = [sum(1 for d in lost if d // self.group_disks == g) for g in range(self.n_groups)]
            return max(per_group) > self.parity_strips
        n, copies = self.disks, self.n_copies
        # the first copy of a block lies on any disk, or on those that whole sets of copies before it leave
        step = 1 if self.arrangement == "far" else math.gcd(copies, n)
        return any(all((first + c) % n in lost for c in range(copies)) for first in lost if first % step == 0)

    @property
    def has_strips_to_cut(self) -> bool:
        """Whether a read can be of several strips; disks with the same content need no cut (rule L4)."""
        is_plain_mirror = self.n_copies == self.disks and self.arrangement == "near"
        return self.kind.family != "concat" and not is_plain_mirror
