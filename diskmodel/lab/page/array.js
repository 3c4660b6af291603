// From the settings of the lab to what the kernel needs to know of the array, in whole numbers, as `resolve` in Python does.

/** Whether a level can have so many disks (`Layout._shape_problem`). `level`: an entry of `diskmodel.layout.levels`. */
export function isPossible(level, disks, groups = 0) {
  const nGroups = groups || level.default_groups || 1, copies = level.default_copies || disks;
  if (disks < level.min_disks || disks % nGroups) return false;
  if (level.default_copies > 1 && copies > disks) return false;
  if (level.needs_whole_sets && disks % copies) return false;
  return level.n_parity === 0 || disks / nGroups - level.n_parity >= level.min_data_strips;
}

/**
 * Layout in sectors (`diskmodel.layout.md.tables.md_tables`).
 *
 * `layout`: {disks, strip_bytes, failed (numbers of disks), groups (0: as the level has them), isRebuilt (whether the
 * first failed disk is rebuilt onto a spare, one strip at a time)}.
 */
export function layoutTables(level, layout, drive) {
  const { disks, strip_bytes: stripBytes, failed = [], groups = 0, isRebuilt = false } = layout;
  const strip = level.strip_sectors ?? stripBytes / drive.sector_bytes;
  const isParity = level.family === "parity", nGroups = groups || level.default_groups || 1;
  const copies = level.default_copies || disks, member = Math.floor(drive.n_sectors / strip) * strip;
  const data = isParity ? disks / nGroups - level.n_parity : 0;
  const capacity = isParity ? member * data * nGroups
    : level.family === "copies" ? Math.floor(member / strip * disks / copies) * strip : member * disks;
  const shape = {
    family: level.family, n_disks: disks, n_spares: isRebuilt ? 1 : 0, strip, member, data_offset: 0, copies,
    n_groups: nGroups, n_data: data, n_parity: level.n_parity,
    read_policy: level.default_copies === 0 ? "nearest" : "idle-or-nearest", failed, capacity,
    sync_action: isRebuilt ? "recover" : "none", rebuild_disk: isRebuilt ? failed[0] : -1,
    rebuild_window: isRebuilt ? stripBytes / drive.sector_bytes : 0, rebuild_front: 0,
  };
  if (disks === 1) return { kind: "single", ...shape };
  return {
    kind: "md", ...shape, far: false, rotation: level.rotates ? "left-symmetric" : "none", write_policy: "fewest",
    cuts_reads: false, largest_request: 0, huge_page_ppm: 0, holds_disks: false, rebuild_steps: 1, rebuild_gap_ns: 0,
    rebuild_speed_min: isRebuilt ? Math.floor(1024000 / drive.sector_bytes) : 0,
    rebuild_idle: isRebuilt ? Math.floor(32768 / drive.sector_bytes) : 0,
    rebuild_pause_ns: isRebuilt && level.family === "copies" && level.default_copies > 1 ? 4000000 : 0,
    bitmap_chunk: 0, bitmap_start: 0, bitmap_end: 0, bitmap_page: 0, bitmap_interval_ns: 0, bitmap_flush_ns: 0, stripe_cache: 0, stripe_page: 0,
    journal: null, ppl: null,
  };
}

/**
 * What a run changes of the drive's scenario, which Python has resolved (`kernel.run`).
 *
 * `settings`: those of the lab (`diskmodel.lab.settings`), without caches that hold writes. `groups` divides the disks.
 */
export function changesOf(settings, level, drive, groups = 0) {
  const { disks, strip_bytes, has_failed_disk: hasFailed, scheduler, read_hit_ratio: hitRatio } = settings;
  const isOwn = scheduler === "drive";
  return {
    layout: layoutTables(level, { disks, strip_bytes, failed: hasFailed ? [0] : [], groups }, drive),
    queue: { ...drive.scenario.queue, scheduler: isOwn ? "fcfs" : scheduler },
    depth: isOwn ? drive.scenario.depth : Math.min(1, drive.scenario.depth),
    hit_ratio: hitRatio,
    revolution_ns: drive.revolution_ns.slice(0, disks),
    phase_ns: drive.phase_ns.slice(0, disks),
  };
}

/** How an array is divided for destaging, at most `destages` on a disk at once (`diskmodel.controller.tables.lanes_of`). */
export function lanesOf(layout, blockSectors, destages, driveDepth) {
  const depth = Math.min(destages, driveDepth), most = driveDepth;
  if (layout.family === "parity") {
    const row = layout.n_data * layout.strip;
    return { n: layout.n_groups, block_sectors: blockSectors, stripe_sectors: row, lane_sectors: row, lane_step: 1, strip_sectors: layout.strip,
      strip_cost: 1, stripe_cost: layout.n_parity, next_sectors: row * layout.n_groups,
      budget: depth * (layout.n_data + layout.n_parity), most: most * (layout.n_data + layout.n_parity) };
  }
  const isConcat = layout.family === "concat", copies = isConcat ? 1 : layout.copies;
  const divisor = (a, b) => (b ? divisor(b, a % b) : a), nBetween = isConcat ? 1 : layout.n_disks / divisor(layout.n_disks, copies);
  return { n: layout.n_disks, block_sectors: blockSectors, stripe_sectors: layout.strip, lane_sectors: isConcat ? layout.member : layout.strip,
    lane_step: copies, strip_sectors: layout.strip, strip_cost: copies, stripe_cost: 0, next_sectors: layout.strip * nBetween,
    budget: depth * copies, most: most * copies };
}

export const usableBytes = (changes, drive) => changes.layout.capacity * drive.sector_bytes;

/** Operations of the disks for each request, by the rule of thumb of RAID calculators (`back_end_per_host`). */
export const backEndPerHost = (level, reads, hitRatio) => reads * (1 - hitRatio) + (1 - reads) * level.write_penalty;

/** A drive's tables with its whole scenario: all disks, and the seek times that their second differences stand for. */
export function unpacked(drive) {
  const { seek_steps: steps, revolution_ns, phase_ns } = drive, scenario = { ...drive.scenario, revolution_ns, phase_ns };
  if (!steps) return { ...drive, scenario };
  let value = 0, step = 0;
  const seeks = steps.map((change) => (value += (step += change)));
  return { ...drive, scenario: { ...scenario, drive: { ...scenario.drive, seek_ns: seeks } } };
}
