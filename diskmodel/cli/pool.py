"""`diskmodel pool`: the array that a pool of OpenZFS is, from zpool status and the counters of its cache."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskmodel.cli.shared.console import print_json, show
from diskmodel.cli.shared.options import Debug, Json
from diskmodel.cli.shared.status import check_place, ends_well
from diskmodel.errors import DescriptionError, Fault, FormatError

if TYPE_CHECKING:
    from diskmodel.array import Array
    from diskmodel.formats import ArcFacts, Pool

#: What the model does not have of devices of other classes, by their word in zpool status.
_LEFT_OUT = {
    "dedup": "dedup vdevs are left out, as is deduplication",
}


@ends_well
def pool(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="Output of zpool status and of cat /proc/spl/kstat/zfs/arcstats; recognized by content.",
        ),
    ],
    name: Annotated[str | None, typer.Option("--name", help="The pool, when zpool status shows several.")] = None,
    drive: Annotated[
        str | None, typer.Option(help="Drive of the pool's data disks: a profile, or a name in the catalogue.")
    ] = None,
    record_size: Annotated[
        str | None,
        typer.Option(help="recordsize of the file system, or volblocksize of the volume; 128KiB unless said."),
    ] = None,
    log_device: Annotated[
        str | None, typer.Option(help="Drive of the pool's log device: a profile, or a name in the catalogue.")
    ] = None,
    special_device: Annotated[
        str | None, typer.Option(help="Drive of the pool's special vdev: a profile, or a name in the catalogue.")
    ] = None,
    cache_device: Annotated[
        str | None,
        typer.Option(help="Drive of the pool's cache devices (L2ARC), with the size that arcstats shows of the ARC."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="TOML file to write the array to.")] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Turn zpool status and arcstats into the array that a pool is."""
    from diskmodel.description import toml_text
    from diskmodel.formats import pool_words, short_fields
    from diskmodel.output import write_text

    check_place(out, "out")
    found, arc = _read(files, name)
    of_disks = {"record_size": record_size, "log_device": log_device, "special_device": special_device}
    of_disks["cache_device"] = cache_device
    if found is None:
        fix = "add an output of zpool status, or leave it out"
        _refuse_given("needs a pool", fix, drive=drive, out=out, **of_disks)
    array, own = None, {}
    if found is not None and drive is not None:
        own = _auxiliary_devices(found, log_device, special_device, cache_device, arc)
        array = _array(found, drive, record_size, own, arc)
    elif found is not None:
        rule = "needs the drive of the pool's disks, which zpool does not show"
        _refuse_given(rule, "add --drive, or leave it out", out=out, **of_disks)
    notes = _notes(found, own, arc)
    short = None if array is None or drive is None else short_fields(array, drive)
    if short is not None:
        short["layout"] |= {name: own[name] for name in ("log", "special") if name in own}
        if "cache" in own:
            n_devices, name = own["cache"].split("x ", 1)
            short["layout"]["cache"] = {"drive": name, "count": int(n_devices)}
    if short is not None and out is not None:
        write_text(out, toml_text(short))
    more = [f"record {record_size}"] if record_size else []
    more += [f"{name} on {words}" for name, words in own.items()]
    words = None if found is None else ", ".join([pool_words(found, drive or "DRIVE"), *more])
    if as_json:
        print_json(
            {
                "pool": None if found is None else _pool_keys(found),
                "arc": None if arc is None else _arc_keys(arc),
                "words": words,
                "array": short,
                "notes": notes,
            }
        )
        return
    if found is not None:
        show(f"{found.name}: {found.in_words()}, {found.state or 'state unknown'}", *(f"  {x}" for x in _facts(found)))
        show(f'  in words: "{words}"')
    show(*(f"  {note}" for note in notes))
    if found is not None and drive is None:
        show("  next: name its drives with --drive (`diskmodel drives` lists them)")
    elif short is not None and out is None:
        typer.echo("\n" + toml_text(short).rstrip())
    elif out is not None:
        show(f"  written to {out}; next: diskmodel capacity {out} --reads 70% --block 8k")


def _read(files: list[Path], name: str | None) -> tuple[Pool | None, ArcFacts | None]:
    """Return the pool and what the counters show, as far as the files have them."""
    from diskmodel.formats import READERS, arc_of_texts, detect_evidence, read_document

    pools, counters = [], []
    for path in files:
        kind = detect_evidence(path)
        if kind in READERS:
            pools += READERS[kind](read_document(path), str(path))
        elif kind == "arcstats":
            counters.append((read_document(path), str(path)))
        else:
            fix = "give outputs of zpool status and of arcstats; a recorded load goes to `diskmodel workload`"
            raise FormatError(Fault("file", kind, "shows no pool", fix), str(path))
    known = {one.name: one for one in pools}
    if len(known) < len(pools):
        raise DescriptionError(Fault("FILE", None, "show a pool twice", "give one output of zpool status"))
    if name is not None and name not in known:
        fix = f"it is one of {', '.join(known)}" if known else "give an output of zpool status"
        raise DescriptionError(Fault("--name", name, "is in none of the files", fix))
    if name is None and len(known) > 1:
        raise DescriptionError(
            Fault("--name", None, "is required: there are several pools", f"one of {', '.join(known)}")
        )
    chosen = known[name] if name is not None else next(iter(known.values()), None)
    return chosen, arc_of_texts(counters) if counters else None


def _refuse_given(rule: str, fix: str, **given: Any) -> None:
    """Refuse those of some options that are given."""
    faults = [Fault(f"--{name.replace('_', '-')}", str(value), rule, fix) for name, value in given.items() if value]
    if faults:
        raise DescriptionError(faults)


def _auxiliary_devices(
    pool: Pool,
    log_device: str | None,
    special_device: str | None,
    cache_device: str | None,
    arc: ArcFacts | None,
) -> dict[str, str]:
    """Return what the pool has on devices of other classes, in the words of a layout."""
    found = {}
    if log_device is not None:
        if not pool.others.get("logs"):
            raise DescriptionError(Fault("--log-device", log_device, "the pool has no log device", "leave it out"))
        found["log"] = log_device
    if special_device is not None:
        why = _why_no_special(pool)
        if why:
            raise DescriptionError(Fault("--special-device", special_device, why, "leave it out"))
        found["special"] = f"{len(pool.others['special'][0].disks)}x {special_device}"
    if cache_device is not None:
        n_devices = sum(len(vdev.disks) for vdev in pool.others.get("cache", ()))
        if not n_devices:
            raise DescriptionError(
                Fault("--cache-device", cache_device, "the pool has no cache device", "leave it out")
            )
        if arc is None or not arc.size_bytes:
            rule = "what comes onto it follows from the size of the ARC, which no file shows"
            raise DescriptionError(Fault("--cache-device", cache_device, rule, "add an output of arcstats"))
        found["cache"] = f"{n_devices}x {cache_device}"
    return found


def _why_no_special(pool: Pool) -> str:
    """Return why the pool has no special vdev of the model's; "" where it has one."""
    vdevs = pool.others.get("special")
    if not vdevs:
        return "the pool has no special vdev"
    if len(vdevs) > 1 or vdevs[0].kind != "mirror":
        kinds = ", ".join("a disk on its own" if vdev.kind == "disk" else vdev.kind for vdev in vdevs)
        return f"only a pool with one mirror as its special vdev is modeled, and this one has {kinds}"
    return ""


def _array(pool: Pool, drive: str, record_size: str | None, own: dict[str, str], arc: ArcFacts | None) -> Array:
    from diskmodel.drive import load_drive, log_device_of, special_vdev_of
    from diskmodel.formats import pool_array
    from diskmodel.wording import cache_device_of

    layout: dict[str, Any] = {}
    if record_size is not None:
        layout["record"] = record_size
    if "log" in own:
        layout["log"] = log_device_of(own["log"])
    if "special" in own:
        layout["special"] = special_vdev_of(own["special"])
    ratio = None if arc is None else arc.hit_ratio
    controller: dict[str, Any] = {} if ratio is None else {"read_cache": {"hit_ratio": round(ratio, 4)}}
    if "cache" in own:
        n_devices, name = own["cache"].split("x ", 1)
        layout["cache"] = cache_device_of(name, int(n_devices))
        controller = {"read_cache": {"size_bytes": arc.size_bytes if arc is not None else None}}
    return pool_array(pool, load_drive(drive), layout, controller)


def _facts(pool: Pool) -> list[str]:
    """Return what else zpool status shows."""
    found = []
    for group, vdevs in pool.others.items():
        names = [f"{disk.name}{' (distributed)' * disk.is_distributed_spare}" for vdev in vdevs for disk in vdev.disks]
        if names:
            found.append(f"{group}: {', '.join(names[:6])}{' …' if len(names) > 6 else ''}")
    failed = [disk for disk in pool.disks if disk.is_failed]
    if failed:
        onto = {disk.name: f" onto {disk.spare}" if disk.spare else "" for disk in failed}
        listed = ", ".join(
            f"{disk.name} (resilvering{onto[disk.name]})" if disk.is_resilvering else disk.name for disk in failed
        )
        found.append(f"failed: {listed}")
    return found + ([str(pool.scan)] if pool.scan is not None else [])


def _notes(pool: Pool | None, own: dict[str, str], arc: ArcFacts | None) -> list[str]:
    """Return what was left out or assumed."""
    notes = list(pool.notes) if pool is not None else []
    others = {group for group, vdevs in pool.others.items() if vdevs} if pool is not None else set()
    if "logs" in others and "log" not in own:
        notes.append("the log device is left out: name its drive with --log-device, or sync writes wait for the disks")
    if pool is not None and "special" in others and "special" not in own:
        how = _why_no_special(pool) or "name its drive with --special-device, or metadata is written to the disks"
        notes.append(f"the special vdev is left out: {how}")
    if "cache" in others:
        notes.append(
            "cache devices (L2ARC) are left out: name their drive with --cache-device, or what they serve is read from "
            "the disks"
            if "cache" not in own
            else "the ARC has the size that it had: what it and the cache devices serve is simulated, not taken over"
        )
    notes += [said for group, said in _LEFT_OUT.items() if group in others]
    if pool is not None and pool.ashift is not None:
        notes.append(f"ashift is {pool.ashift}, less than the drives have: writes of less than a native block are slow")
    scan = pool.scan if pool is not None else None
    if pool is not None and scan is not None and scan.is_running:
        notes += [f"the scan that is in progress is left out: {why}"] if (why := _why_no_scan(pool)) else []
    return notes + (_of_arc(arc) if arc is not None else [])


def _why_no_scan(pool: Pool) -> str:
    """Return why the running scan is none of the model's; "" when it is."""
    from diskmodel.formats import scanned_disk

    if pool.scan is None or scanned_disk(pool) is not None:
        return ""
    failed = [disk for disk in pool.disks if disk.is_failed]
    if not pool.scan.is_resilver:
        return "of a pool with failed disks a scrub is not modeled"
    if any(disk.is_resilvering for disk in failed):
        return "where spares are distributed, disks are resilvered onto them first, not onto a disk"
    return "no disk of the pool is resilvered from nothing"


def _of_arc(arc: ArcFacts) -> list[str]:
    from diskmodel.units import pretty_bytes

    when = "between the snapshots" if arc.is_interval else "since the module was loaded: take two snapshots for a load"
    demand = arc.reads["demand_data"]
    found = []
    if demand.hit_ratio is None:
        found.append(f"no program read data {when.partition(':')[0]}: the hit ratio is unknown")
    else:
        waited = f", {demand.io_hits / demand.n:.1%} waited for a read in progress" if demand.io_hits else ""
        found.append(
            f"{demand.hit_ratio:.1%} of the blocks that programs read were in the ARC{waited} ({when})".replace(
                "%", " %"
            )
        )
        metadata = arc.reads["demand_metadata"].hit_ratio
        if metadata is not None:
            found.append(f"{metadata:.1%} of their metadata were".replace("%", " %"))
    found.append(
        f"the ARC holds {pretty_bytes(arc.size_bytes)} of at most {pretty_bytes(arc.max_bytes)}: with another size or "
        "another load the ratio is another one"
    )
    if arc.l2_size_bytes and arc.l2_reads.hit_ratio is not None:
        found.append(f"{arc.l2_reads.hit_ratio:.1%} of the misses were on cache devices (L2ARC)".replace("%", " %"))
    return found


def _pool_keys(pool: Pool) -> dict[str, Any]:
    return {
        "name": pool.name,
        "state": pool.state,
        "vdevs": [_vdev_keys(vdev) for vdev in pool.vdevs],
        "others": {group: [_vdev_keys(vdev) for vdev in vdevs] for group, vdevs in pool.others.items()},
        "scan": None
        if pool.scan is None
        else {
            "is_resilver": pool.scan.is_resilver,
            "is_running": pool.scan.is_running,
            "done_ratio": pool.scan.done_ratio,
            "total_bytes": pool.scan.total_bytes,
            "bytes_per_s": pool.scan.bytes_per_s,
            "hours": pool.scan.hours,
            "vdev": pool.scan.vdev,
        },
    }


def _vdev_keys(vdev: Any) -> dict[str, Any]:
    disks = [
        {"name": x.name, "is_failed": x.is_failed, "is_resilvering": x.is_resilvering, "spare": x.spare}
        for x in vdev.disks
    ]
    return {"kind": vdev.kind, "disks": disks}


def _arc_keys(arc: ArcFacts) -> dict[str, Any]:
    return {
        "hit_ratio": arc.hit_ratio,
        "is_interval": arc.is_interval,
        "size_bytes": arc.size_bytes,
        "target_bytes": arc.target_bytes,
        "max_bytes": arc.max_bytes,
        "reads": {kind: {"n": one.n, "hit_ratio": one.hit_ratio} for kind, one in arc.reads.items()},
        "l2_size_bytes": arc.l2_size_bytes,
        "l2_hit_ratio": arc.l2_reads.hit_ratio,
    }
