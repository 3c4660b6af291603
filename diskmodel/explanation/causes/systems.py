"""Causes in drives that are whole systems: caches, clusters, volumes of clouds. Each kind says its own (`Trouble`)."""

from __future__ import annotations

from typing import Any

from diskmodel.array import Array
from diskmodel.controller.catalogue import profiles
from diskmodel.drive import KINDS, Trouble
from diskmodel.explanation.causes.cause import OFTEN, SELDOM, SOMETIMES, Cause, Change, on_array
from diskmodel.uncertainty.perturbed import AnyWorkload

_PRIORS = {"often": OFTEN, "sometimes": SOMETIMES, "seldom": SELDOM}


def _cause(trouble: Trouble) -> Cause:
    def change(array: Array, workload: AnyWorkload, strength: Any) -> Change | None:
        if trouble not in array.drive.troubles:
            return None
        drive = trouble.change(array.drive, strength)
        return None if drive is None else on_array(array, workload, drive=drive)

    return Cause(
        name=trouble.name,
        title=trouble.title,
        prior=_PRIORS[trouble.found],
        fingerprint=trouble.fingerprint,
        change=change,
        strengths=dict(trouble.strengths),
        about=trouble.about,
        is_of_systems=True,
    )


def _on_instance(array: Array, workload: AnyWorkload, instance: str) -> Change | None:
    if not array.drive.is_provisioned or array.controller.most_iops is not None:
        return None
    return on_array(array, workload, controller=profiles()[instance].controller)


#: Every trouble of every kind.
TROUBLES: tuple[Trouble, ...] = tuple(trouble for drive in KINDS.values() for trouble in drive.troubles)

SYSTEMS = (
    *map(_cause, TROUBLES),
    Cause(
        name="instance-limit",
        title="the instance lets its volumes do less together than they could",
        prior=OFTEN,
        fingerprint="the same rate however many volumes there are, and whatever is outstanding",
        change=_on_instance,
        strengths={
            one.controller.name: name for name, one in profiles().items() if one.controller.most_iops is not None
        },
        about="limit",
        is_of_systems=True,
    ),
)
