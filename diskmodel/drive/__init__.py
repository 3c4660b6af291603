"""Drives: descriptions, geometry, seek curves, and a catalogue made from data sheets."""

from typing import TYPE_CHECKING

from diskmodel.drive.card import OtherPrograms, Trouble
from diskmodel.drive.catalogue import catalogue
from diskmodel.drive.description import NamedDrive, load_drive
from diskmodel.drive.flash.description import Flash
from diskmodel.drive.flash.tables import FlashTables
from diskmodel.drive.hdd import DriveQueue, Hdd, HddCache
from diskmodel.drive.hdd.tables import HddTables
from diskmodel.drive.members import KernelTables
from diskmodel.drive.parse import KINDS, Drive, bought_in, parse_drive, planners, system_around, volume_of_words
from diskmodel.drive.profile import Uncertainty
from diskmodel.drive.seek import Seek, SeekCurve, SeekTable, SeekTimes, read_seek_file
from diskmodel.drive.tables_card import DriveTables
from diskmodel.drive.virtual.description import Virtual
from diskmodel.drive.virtual.tables import VirtualTables
from diskmodel.drive.zones import Zone
from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.drive.assumed_order import ONE_AT_A_TIME, AssumedOrder, Order
    from diskmodel.drive.auxiliary_devices import (
        NONE,
        NamedLog,
        NamedSpecial,
        device_in_words,
        drive_at,
        log_device_of,
        mirror_of,
        special_vdev_of,
        with_log_drive,
        with_own_drive,
        with_special_drives,
    )
    from diskmodel.drive.cache import Dirty, DirtyBuffer, Segment, Segments
    from diskmodel.drive.cached.description import CachedVolume
    from diskmodel.drive.cached.tables import CachedTables
    from diskmodel.drive.catalogue.kinds import by_class, find_drives, kinds_of
    from diskmodel.drive.cloud.description import CloudVolume
    from diskmodel.drive.cloud.limits import Budgets, Charge, Meter
    from diskmodel.drive.cloud.tables import CloudTables
    from diskmodel.drive.cluster.costs import Costs
    from diskmodel.drive.cluster.description import OBJECT_BYTES, SCRUB_HOURS, ClusterPool
    from diskmodel.drive.cluster.tables import ClusterTables
    from diskmodel.drive.cluster.words import is_cluster, scheme_of_words
    from diskmodel.drive.description import provisioned
    from diskmodel.drive.drawn import drawn_values, scalar_of, with_values
    from diskmodel.drive.draws import USUAL, AccessDraw, Draws
    from diskmodel.drive.flash.dies import Dies, Served
    from diskmodel.drive.flash.first_layout import FirstLayout
    from diskmodel.drive.flash.ftl import Ftl
    from diskmodel.drive.flash.wear import wear, wear_years
    from diskmodel.drive.generator import DrawnTimes, Generator
    from diskmodel.drive.geometry import place_of
    from diskmodel.drive.hdd.read_ahead import streamed
    from diskmodel.drive.mechanics import Access, Arm, Mechanics, Spindle
    from diskmodel.drive.media_cache.log import MediaLog, Step
    from diskmodel.drive.media_cache.tables import MediaCacheTables
    from diskmodel.drive.perturbation import DrivePerturbation, scaled_ns
    from diskmodel.drive.profile import MISFIT, NOT_CONVERGED, TAIL_MISFIT
    from diskmodel.drive.validated import measured_slower, validation_of
    from diskmodel.drive.virtual.processor import processor_ns
    from diskmodel.drive.whole_numbers import PPM
    from diskmodel.drive.zones import WriteZones

__getattr__ = face(
    __name__,
    {
        "assumed_order": "AssumedOrder ONE_AT_A_TIME Order",
        "auxiliary_devices": (
            "NONE NamedLog NamedSpecial device_in_words drive_at log_device_of mirror_of "
            "special_vdev_of with_own_drive with_log_drive with_special_drives"
        ),
        "cache": "Dirty DirtyBuffer Segment Segments",
        "cached.description": "CachedVolume",
        "cached.tables": "CachedTables",
        "catalogue.kinds": "by_class find_drives kinds_of",
        "cloud.description": "CloudVolume",
        "cloud.limits": "Budgets Charge Meter",
        "cloud.tables": "CloudTables",
        "cluster.costs": "Costs",
        "cluster.description": "ClusterPool OBJECT_BYTES SCRUB_HOURS",
        "cluster.tables": "ClusterTables",
        "cluster.words": "is_cluster scheme_of_words",
        "description": "provisioned",
        "drawn": "drawn_values scalar_of with_values",
        "draws": "AccessDraw Draws USUAL",
        "flash.dies": "Dies Served",
        "flash.first_layout": "FirstLayout",
        "flash.ftl": "Ftl",
        "flash.wear": "wear wear_years",
        "generator": "DrawnTimes Generator",
        "geometry": "place_of",
        "hdd.read_ahead": "streamed",
        "mechanics": "Access Arm Mechanics Spindle",
        "media_cache.log": "MediaLog Step",
        "media_cache.tables": "MediaCacheTables",
        "perturbation": "DrivePerturbation scaled_ns",
        "profile": "MISFIT NOT_CONVERGED TAIL_MISFIT",
        "validated": "measured_slower validation_of",
        "virtual.processor": "processor_ns",
        "whole_numbers": "PPM",
        "zones": "WriteZones",
    },
)
