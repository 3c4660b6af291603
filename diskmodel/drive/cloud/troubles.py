"""What may be wrong with a volume of a cloud, or other than it is described."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diskmodel.drive.card import Trouble

if TYPE_CHECKING:
    from diskmodel.drive.cloud.description import CloudVolume


def _spent(volume: CloudVolume, _: None) -> CloudVolume | None:
    has_full = volume.state == "full" and volume.has_credits
    return volume.model_copy(update={"state": "spent", "is_drained": True}) if has_full else None


def _left(volume: CloudVolume, _: None) -> CloudVolume | None:
    has_spent = volume.state == "spent" and volume.has_credits
    return volume.model_copy(update={"state": "full", "is_drained": False}) if has_spent else None


def _as_included(volume: CloudVolume, _: None) -> CloudVolume | None:
    included = {"iops": volume.included_iops, "throughput_bytes_per_s": volume.included_throughput_bytes_per_s}
    lower = {
        name: value for name, value in included.items() if value is not None and value < (getattr(volume, name) or 0)
    }
    return volume.model_copy(update=lower) if lower else None


def _smaller(volume: CloudVolume, factor: float) -> CloudVolume | None:
    names = ("iops", "iops_per_gib", "throughput_bytes_per_s", "throughput_per_tib_bytes_per_s")
    lower = {name: value * factor for name in names if (value := getattr(volume, name)) is not None}
    return volume.model_copy(update=lower) if lower else None


_LIMIT = "the same rate whatever is outstanding, and latency that grows with it"

TROUBLES = (
    Trouble(
        name="credits-spent",
        title="the volume's credits for bursts are used up",
        found="often",
        fingerprint="fast until minutes ago, now the rate that the size pays for, whatever is outstanding",
        command="aws cloudwatch get-metric-statistics --namespace AWS/EBS --metric-name BurstBalance …",
        shows="0 %; of Azure: Data Disk Used Burst IO Credits Percentage at 100",
        change=_spent,
        about="limit",
    ),
    Trouble(
        name="credits-left",
        title="the volume still has credits for bursts: this rate ends when they are used up",
        found="often",
        fingerprint="faster than the size pays for, at the rate of the burst",
        command="aws cloudwatch get-metric-statistics --namespace AWS/EBS --metric-name BurstBalance …",
        shows="above 0 %, and falling; or the same job for an hour: the rate falls",
        change=_left,
        about="limit",
    ),
    Trouble(
        name="volume-limit",
        title="the volume has only the limits that come with its type: nothing more is provisioned",
        found="often",
        fingerprint=_LIMIT,
        command="aws ec2 describe-volumes --volume-ids VOLUME",
        shows="Iops and Throughput; CloudWatch: VolumeIOPSExceededCheck, VolumeThroughputExceededCheck",
        change=_as_included,
        about="limit",
    ),
    Trouble(
        name="smaller-volume",
        title="the volume is smaller, or of a lower tier: its limits are a part of those described",
        found="sometimes",
        fingerprint=_LIMIT,
        command="aws ec2 describe-volumes; az disk show; gcloud compute disks describe",
        shows="type, size, IOPS and MB/s of each volume",
        change=_smaller,
        strengths={"a half": 1 / 2, "a quarter": 1 / 4, "a tenth": 1 / 10},
        about="limit",
    ),
)
