"""What fio's options do to a load: modeled, without effect on it, or left out, with the consequence in one line.

Names as in fio's HOWTO of version 3.38.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Options that the reader of workloads uses.
MODELLED = frozenset(
    """
    rw bs bsrange bssplit blockalign rwmixread rwmixwrite iodepth numjobs ioengine direct buffered size filesize
    offset filename thinktime thinktime_blocks rate rate_iops rate_process random_distribution rw_sequencer
    stonewall wait_for wait_for_previous new_group kb_base read_iolog group_reporting name unit_base
    max_open_zones job_max_open_zones fsync fdatasync sync
    """.split()
)

#: Options about measuring, logging, memory, processes and the amount of work: they leave the requests as they are.
WITHOUT_EFFECT = frozenset(
    """
    description runtime timeout time_based ramp_time loops io_size io_limit number_ios thread directory
    filename_format create_serialize create_fsync create_on_open create_only pre_read unlink unlink_each_loop
    allow_file_create allow_mounted_write fallocate overwrite invalidate end_fsync fsync_on_close fill_device
    fill_fs file_append opendir lockfile openfiles randrepeat allrandrepeat randseed random_generator norandommap
    softrandommap refill_buffers scramble_buffers zero_buffers buffer_pattern iomem iomem_align hugepage-size
    write_bw_log write_lat_log write_iops_log write_hist_log write_iolog log_avg_msec log_hist_msec
    log_hist_coarseness log_max_value log_window_value log_offset log_compression log_compression_cpus
    log_store_compressed log_unix_epoch log_alternate_epoch log_entries log_prio log_issue_time
    log_alternate_epoch_clock_id per_job_logs block_error_percentiles bwavgtime iopsavgtime gtod_reduce gtod_cpu
    clocksource disable_lat disable_clat disable_slat disable_bw_measurement disable_bw clat_percentiles
    lat_percentiles slat_percentiles percentile_list significant_figures disk_util status_interval
    unified_rw_reporting stats continue_on_error ignore_error error_dump exitall exitall_on_error exit_what
    exec_prerun exec_postrun uid gid cpumask cpus_allowed cpus_allowed_policy numa_cpu_nodes numa_mem_policy nice
    cgroup_nodelete profile use_os_rand do_verify verify_fatal verify_dump verify_pattern verify_pattern_interval
    verify_offset verify_interval verify_state_save verify_state_load verify_async verify_async_cpus verify_only
    verifysort verifysort_nr verify_header_seed verify_write_sequence experimental_verify trim_verify_zero
    ignore_zone_limits job_start_clock_id userspace_reap fixedbufs registerfiles
    hipri hipri_percentage sqthread_poll sqthread_poll_cpu nonvectored uncached cmd_type output output-format nowait
    iodepth_batch_complete iodepth_batch_complete_min iodepth_batch_complete_max replay_redirect rwmixcycle
    steadystate steadystate_duration steadystate_ramp_time steadystate_check_interval ss ss_dur ss_ramp ss_interval
    time_stats eta eta-newline minimal section ratemin rate_iops_min rate_cycle thinktime_spin rate_ignore_thinktime
    io_submit_mode replay_no_stall flow_id flow_watermark flow_sleep
    """.split()
)

#: Options that change the load and are not modeled → what that may do to the answer.
LEFT_OUT: Mapping[str, str] = {
    "percentage_random": "the sequential part of the requests is taken as random, which is harder for disks",
    "startdelay": "jobs that begin later are taken as running from the start, which overstates the load before",
    "flow": "the jobs' shares of the requests are not kept in proportion; each runs as fast as it is served",
    "iodepth_low": "the queue is kept full instead of draining to this depth: latency may be overstated",
    "iodepth_batch": "requests are issued one by one instead of in batches: short bursts are lost",
    "iodepth_batch_submit": "requests are issued one by one instead of in batches: short bursts are lost",
    "serialize_overlap": "requests that overlap are not held back",
    "latency_target": "fio adapts the depth to a latency; the depth given is taken",
    "latency_window": "fio adapts the depth to a latency; the depth given is taken",
    "max_latency": "fio stops at such a latency; the load goes on here",
    "thinktime_iotime": "pauses come after each request instead of after a time: bursts are lost",
    "thinktime_iotime_blocks": "pauses come after each request instead of after a time: bursts are lost",
    "zonemode": "requests are not confined to zones: jumps from zone to zone are lost or added",
    "zonesize": "requests are not confined to zones: jumps from zone to zone are lost or added",
    "zoneskip": "nothing is skipped: the region is denser than it was",
    "zonerange": "requests are not confined to zones: jumps from zone to zone are lost or added",
    "zonecapacity": "requests are not confined to zones",
    "read_beyond_wp": "reads of what was never written take as long as others; a drive answers them at once",
    "zone_reset_threshold": "zones are not reset: the cost of resets is left out",
    "zone_reset_frequency": "zones are not reset: the cost of resets is left out",
    "offset_increment": "all clones use the same region instead of regions of their own",
    "offset_align": "places are aligned to the block size",
    "sync_file_range": "writes pages of the page cache, which the workload does not include, and flushes no drive",
    "write_barrier": "fio's engines for files and devices ignore it: writes are followed by no flush",
    "verify": "reads that verify what was written are left out: the real load is higher",
    "verify_backlog": "reads that verify what was written are left out: the real load is higher",
    "verify_backlog_batch": "reads that verify what was written are left out: the real load is higher",
    "trim_percentage": "trims are left out",
    "trim_backlog": "trims are left out",
    "trim_backlog_batch": "trims are left out",
    "num_range": "trims are left out",
    "dedupe_percentage": "data are taken as unique: an array that deduplicates writes less",
    "dedupe_mode": "data are taken as unique: an array that deduplicates writes less",
    "buffer_compress_percentage": "data are taken as incompressible: an array that compresses writes less",
    "buffer_compress_chunk": "data are taken as incompressible: an array that compresses writes less",
    "file_service_type": "files are taken as one region: the order in which they are visited is lost",
    "nrfiles": "files are taken as one region: jumps between files are lost",
    "file_size": "files are taken as one region",
    "bs_unaligned": "requests begin at whole sectors of 512 bytes",
    "bs_is_seq_rand": "sequential and random requests draw from the same sizes",
    "prio": "priorities are left out",
    "prioclass": "priorities are left out",
    "cmdprio": "priorities are left out",
    "cmdprio_percentage": "priorities are left out",
    "cmdprio_split": "priorities are left out",
    "cmdprio_bssplit": "priorities are left out",
    "cgroup": "limits of the control group are left out: the real load may be lower",
    "cgroup_weight": "limits of the control group are left out: the real load may be lower",
    "blkio_weight": "limits of the control group are left out: the real load may be lower",
    "random_sequence_stride": "the sequence of places is taken as random",
    "zone_split": "requests are not confined to zones",
    "atomic": "atomic writes are taken as plain ones",
    "write_hint": "hints of lifetime are left out",
    "fdp": "placement hints are left out",
    "sprandom": "the pattern that ages a flash drive is taken as random writes",
}

#: Options of single engines begin so: paths, credentials, connections.
_ENGINE_PREFIXES = tuple(
    """
    http libblkio_ rbd nbd rados clientname clustername pool ime_ gpu_dev_ids cuda_io hip_io hdfs namenode
    chunk_size brick volume host port protocol ttl interface listen pingpong donorname inplace xnvme subnqn uri
    md_per_io_size pi_act pi_chk apptag busy_poll nfs_url dfs_ svc cont object_class s3_ https writefua readfua
    sg_write_mode hdr stat_type plids plid_select dp_scheme fdp_ deac write_mode verify_mode dataplacement cpuload
    cpuchunks uncached ns_ mem hugepage touch_objects
    """.split()
)

#: Engines that read and write no drive → what they do instead.
NO_DRIVE: Mapping[str, str] = {
    "filecreate": "creates files",
    "filestat": "asks for files' attributes",
    "filedelete": "deletes files",
    "dircreate": "creates directories",
    "dirstat": "asks for directories' attributes",
    "dirdelete": "deletes directories",
    "net": "sends over a network",
    "netsplice": "sends over a network",
    "cpuio": "burns processor time",
    "falloc": "allocates space",
    "e4defrag": "moves extents of ext4",
    "rdma": "sends over a network",
    "exec": "runs a program",
}

#: Options that `zonemode=zbd` gives another meaning, which is modeled, or that it ignores.
_OF_ZBD = frozenset(("zonemode", "zonesize", "zonerange"))

_DISTANT: Mapping[str, str] = {
    "null": "the engine null does no input or output: its latencies are those of no drive",
    "http": "requests go to an object store over a network",
    "rbd": "requests go to Ceph over a network: each is several on its disks",
    "rados": "requests go to Ceph over a network: each is several on its disks",
    "gfapi": "requests go to Gluster over a network",
    "gfapi_async": "requests go to Gluster over a network",
    "libhdfs": "requests go to Hadoop over a network",
    "nfs": "requests go to a file server over a network",
    "nbd": "requests go to a block server over a network",
    "libpmem": "requests go to persistent memory",
    "dev-dax": "requests go to persistent memory",
    "pmemblk": "requests go to persistent memory",
    "mmap": "requests go through mapped memory: the page cache decides what reaches the drive",
    "splice": "requests go through the page cache",
    "external": "an external engine may do anything: its depth is taken as given",
}


def notes_of(options: Mapping[str, str], engine: str | None) -> dict[str, list[str]]:
    """Return what a job's options do that the workload does not show: effect → the settings that have it.

    Parameters
    ----------
    options : mapping
        By canonical name.
    engine : str or None
    """
    found: dict[str, list[str]] = {}
    is_zbd = writes_in_zones(options)
    for name, value in options.items():
        if is_zbd and name in _OF_ZBD:
            continue
        setting = f"{name}={value}" if value else name
        if name in LEFT_OUT:
            if not _is_off(name, value):
                found.setdefault(LEFT_OUT[name], []).append(setting)
        elif name not in MODELLED and name not in WITHOUT_EFFECT and not name.startswith(_ENGINE_PREFIXES):
            found.setdefault("not known here; what it does to the load is left out", []).append(setting)
    if engine is not None and engine in _DISTANT:
        found[_DISTANT[engine]] = []
    return found


def writes_in_zones(options: Mapping[str, str]) -> bool:
    """Return whether a job writes at the write pointers of a drive's zones."""
    return options.get("zonemode", "").strip() == "zbd"


def _is_off(name: str, value: str) -> bool:
    """Whether an option is set to what fio does without it."""
    usual = {
        "percentage_random": ("100",),
        "zonemode": ("none",),
        "nrfiles": ("1",),
        "iodepth_batch": ("1",),
        "iodepth_batch_submit": ("1",),
        "file_service_type": ("roundrobin",),
    }
    return value.strip() in ("0", "0%", "0s", *usual.get(name, ())) or (name == "verify" and value.strip() == "null")
