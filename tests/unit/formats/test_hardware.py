"""smartctl and lsblk as the start of a drive profile."""

import json

import pytest

from diskmodel.errors import FormatError
from diskmodel.formats.hardware import facts_of_text, read_drive_facts
from tests.unit.formats.files import DATA


def test_smartctl_tells_rpm_capacity_and_sectors_and_the_serial_number_stays_behind():
    (facts,) = read_drive_facts(DATA / "smartctl-hdd.json")
    assert facts.known() == {
        "device": "/dev/sda",
        "model": "ST33000650NS",
        "capacity_bytes": 3000592982016,
        "is_rotational": True,
        "rpm": 7200,
        "logical_sector_bytes": 512,
        "physical_sector_bytes": 512,
        "interface": "SATA",
        "form_factor": "3.5 inches",
    }
    assert "Z0000000" not in repr(facts)


@pytest.mark.parametrize(
    ("extra", "rotates"),
    [({"rotation_rate": 0}, False), ({"device": {"name": "/dev/nvme0", "protocol": "NVMe"}}, False), ({}, None)],
)
def test_flash_has_no_rpm(extra, rotates):
    document = {"smartctl": {}, "nvme_total_capacity": 1000} | extra
    (facts,) = facts_of_text(json.dumps(document))
    assert (facts.is_rotational, facts.rpm, facts.capacity_bytes) == (rotates, None, 1000)


def test_lsblk_lists_disks_that_have_a_size():
    (facts,) = read_drive_facts(DATA / "lsblk.json")
    assert (facts.device, facts.capacity_bytes) == ("/dev/vda", 274877906944)
    assert (facts.is_rotational, facts.logical_sector_bytes, facts.physical_sector_bytes) == (True, 512, 4096)


def test_old_lsblk_puts_numbers_in_quotes():
    (facts,) = facts_of_text('{"blockdevices": [{"name": "sda", "size": "1000", "rota": "1", "log-sec": "512"}]}')
    assert (facts.capacity_bytes, facts.is_rotational, facts.logical_sector_bytes) == (1000, True, 512)


def test_faults():
    with pytest.raises(FormatError, match="Unable to detect device type"):
        read_drive_facts(DATA / "smartctl-no-drive.json")
    with pytest.raises(FormatError, match=r"blockdevices\.0\.size='1,8T'.*use lsblk -b"):
        facts_of_text('{"blockdevices": [{"name": "sda", "size": "1,8T"}]}')
    with pytest.raises(FormatError, match=r"rotation_rate=-5"):
        facts_of_text('{"smartctl": {}, "rotation_rate": -5}')
    with pytest.raises(FormatError, match="lists no disk"):
        facts_of_text('{"blockdevices": []}')
    with pytest.raises(FormatError, match="is neither"):
        facts_of_text("[]")
    with pytest.raises(FormatError, match="is not valid JSON"):
        facts_of_text("{")
