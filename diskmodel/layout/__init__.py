"""Striping, mirrors, parity: which disks serve a request, in which phases."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.layout.auxiliary_devices import AuxiliaryDevice, LogDevice, SpecialVdev
    from diskmodel.layout.card import Groups
    from diskmodel.layout.description import Layout
    from diskmodel.layout.fields import Level
    from diskmodel.layout.levels import LEVELS, POOLS, RaidLevel, draid_counts, level_name, zfs_refusal
    from diskmodel.layout.passes import ONLY_OF_MD, PLACES_OF_A_PASS, STEP_BYTES, Rebuild
    from diskmodel.layout.pieces import READ_AND_HOLD, ChildIo, ChooseCopy, Copy, merged
    from diskmodel.layout.shape import MAX_DISKS, MAX_VDEV_DISKS, Shape
    from diskmodel.layout.volumes import VolumeTables
    from diskmodel.layout.written import Written

__getattr__ = face(
    __name__,
    {
        "auxiliary_devices": "AuxiliaryDevice LogDevice SpecialVdev",
        "card": "Groups",
        "description": "Layout",
        "fields": "Level",
        "levels": "LEVELS POOLS RaidLevel draid_counts level_name zfs_refusal",
        "passes": "PLACES_OF_A_PASS STEP_BYTES ONLY_OF_MD Rebuild",
        "pieces": "ChildIo ChooseCopy Copy READ_AND_HOLD merged",
        "shape": "MAX_DISKS MAX_VDEV_DISKS Shape",
        "volumes": "VolumeTables",
        "written": "Written",
    },
)
