"""Drives: descriptions, geometry, seek curves, and a catalogue made from data sheets."""

from diskmodel.drive.catalogue import catalogue
from diskmodel.drive.cloud.description import CloudVolume
from diskmodel.drive.cloud.tables import CloudTables
from diskmodel.drive.description import NamedDrive, load_drive
from diskmodel.drive.flash.description import Flash
from diskmodel.drive.flash.tables import FlashTables
from diskmodel.drive.hdd import DriveQueue, Hdd, HddCache
from diskmodel.drive.hdd.tables import HddTables
from diskmodel.drive.parse import Drive, parse_drive
from diskmodel.drive.profile import Uncertainty
from diskmodel.drive.seek import Seek, SeekCurve, SeekTable, SeekTimes, read_seek_file
from diskmodel.drive.tables_card import DriveTables
from diskmodel.drive.virtual.description import Virtual
from diskmodel.drive.virtual.tables import VirtualTables
from diskmodel.drive.zones import Zone

__all__ = [
    "CloudTables",
    "CloudVolume",
    "Drive",
    "DriveQueue",
    "DriveTables",
    "Flash",
    "FlashTables",
    "Hdd",
    "HddCache",
    "HddTables",
    "NamedDrive",
    "Seek",
    "SeekCurve",
    "SeekTable",
    "SeekTimes",
    "Uncertainty",
    "Virtual",
    "VirtualTables",
    "Zone",
    "catalogue",
    "load_drive",
    "parse_drive",
    "read_seek_file",
]
