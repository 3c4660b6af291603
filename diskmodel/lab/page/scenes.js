// Runs of the kernel of which every movement of an arm is recorded: the scenes of an array, and the moving head.
import { changesOf, lanesOf, layoutTables, usableBytes } from "./array.js";
import { draw, ruleOf } from "./requests.js";

/** Columns of a recorded movement, as the kernel names them (`movement.rs`). */
const COLUMNS = ["op", "lba", "n_sectors", "submitted_ns", "start_ns", "done_ns", "seek_ns", "rotation_ns", "transfer_ns", "from_cylinder", "cylinder"];
const sixDigits = (x) => Number(x.toFixed(6));

/** Movements of each disk, as `diskmodel.lab.recording.DiskRecord`. */
function diskRecords(run, changes, drive) {
  const tables = drive.scenario.drive, cylinders = tables.zone_first_cylinder;
  return run.said.movements.map((rows, disk) => ({
    disk, revolution_ns: changes.revolution_ns[disk], phase_ns: changes.phase_ns[disk],
    n_cylinders: cylinders.at(-1), zone_cylinders: cylinders.slice(0, -1), n_sectors: tables.n_sectors,
    movements: rows.map((row) => ({ ...Object.fromEntries(COLUMNS.map((name, i) => [name, row[i]])),
      angle: sixDigits(row[11] / row[12]), arc: sixDigits(Math.min(row[2] / row[12], 1)) })),
  }));
}

/** What the kernel needs for a scene of `diskmodel.lab.scenes`: {changes, requests, cache}. */
export function sceneOf(settings, scene, level, drive, tables) {
  const isDegraded = scene === "failed" || scene === "rebuild";
  const changes = changesOf({ ...settings, has_failed_disk: false }, level, drive);
  const failed = isDegraded || settings.has_failed_disk ? [0] : [];
  changes.layout = layoutTables(level, { disks: settings.disks, strip_bytes: settings.strip_bytes, failed, isRebuilt: scene === "rebuild" }, drive);
  const n = settings.disks + changes.layout.n_spares;
  Object.assign(changes, { revolution_ns: drive.revolution_ns.slice(0, n), phase_ns: drive.phase_ns.slice(0, n), record_rows: tables.n_rows });
  const nRequests = tables.n_requests[scene];
  if (scene === "write") {
    const size = Math.min(4096, settings.strip_bytes), at = tables.written_strip * settings.strip_bytes;
    const one = (value) => Float64Array.of(value);
    const requests = { n: 1, whenNs: one(0), offset: one(at), length: one(size), cacheDraw: one(0.5), stream: Int32Array.of(0), op: Uint8Array.of(1) };
    return { changes: { ...changes, hit_ratio: 0, streams: [ruleOf(1)] }, requests, cache: null };
  }
  const isCache = scene === "cache";
  let load = settings.arrivals === "rate" ? { rate_per_s: settings.rate_per_s, clients: 0 } : { clients: settings.outstanding };
  if (isCache) load = { read_ratio: 0, rate_per_s: tables.cache_load * settings.disks * drive.per_disk_iops, clients: 0 };
  const workload = { ...settings, ...load, span_bytes: Math.floor(usableBytes(changes, drive) * settings.span_ratio) };
  const { requests, streams } = draw(workload, nRequests, settings.seed);
  if (!isCache) return { changes: { ...changes, streams }, requests, cache: null };
  const cache = { ...tables.cache, lanes: lanesOf(changes.layout, tables.cache.block_sectors, tables.destages, changes.depth) };
  return { changes: { ...changes, streams, cache, sample_every: 1 }, requests, cache: { room: cache.dirty_lines, high: cache.high_lines } };
}

/** A recorded scene, as `diskmodel.lab.scenes.recorded_scene`. */
export function recordedScene(bench, settings, scene, tables) {
  const level = bench.levels[settings.level], drive = bench.drives[settings.drive];
  const { changes, requests, cache } = sceneOf(settings, scene, level, drive, tables);
  const run = bench.kernel.run(bench.kept[settings.drive], changes, requests);
  const { layout } = changes, { issueNs, doneNs } = run;
  return {
    disks: diskRecords(run, changes, drive), strips: run.said.strips, strip_sectors: layout.strip, n_disks: layout.n_disks,
    failed: layout.failed, rebuild_disk: layout.rebuild_disk, end_ns: run.endNs,
    requests: { op: [...requests.op], issue_ns: [...issueNs], response_ns: Array.from(doneNs, (at, i) => at - issueNs[i]) },
    levels: run.said.levels.map((level) => level.slice(0, 2)), cache,
  };
}

/** One disk of the array under each of some schedulers, for the page of the moving head (`animation.schedulers_page`). */
export function headPanels(bench, settings, schedulers, nRequests) {
  const level = bench.levels[settings.level], drive = bench.drives[settings.drive];
  return schedulers.map((scheduler) => {
    const changes = changesOf({ ...settings, scheduler }, level, drive);
    const workload = { ...settings, span_bytes: Math.floor(usableBytes(changes, drive) * settings.span_ratio),
      ...(settings.arrivals === "rate" ? { rate_per_s: settings.rate_per_s, clients: 0 } : { clients: settings.outstanding }) };
    const { requests, streams } = draw(workload, nRequests, settings.seed);
    const run = bench.kernel.run(bench.kept[settings.drive], { ...changes, streams, record_rows: 0 }, requests);
    const disks = diskRecords(run, changes, drive);
    return { name: scheduler, end_ns: run.endNs, ...disks[settings.has_failed_disk ? 1 : 0] };
  });
}

/** One small write of RAID 5: the panels of its disks and the story of its four operations (`animation.small_write_page`). */
export function smallWrite(bench, settings) {
  const level = bench.levels.raid5, drive = bench.drives[settings.drive];
  const disks = settings.level === "raid5" ? settings.disks : Math.max(settings.disks, level.min_disks);
  const changes = changesOf({ ...settings, level: "raid5", disks, has_failed_disk: false, read_hit_ratio: 0 }, level, drive);
  changes.layout.write_policy = "read-modify-write";
  const middle = Math.floor(Math.floor(usableBytes(changes, drive) / 2) / 4096) * 4096, one = (value) => Float64Array.of(value);
  const recorded = (op) => {
    const requests = { n: 1, whenNs: one(0), offset: one(middle), length: one(4096), cacheDraw: one(0.5), stream: Int32Array.of(0), op: Uint8Array.of(op) };
    const run = bench.kernel.run(bench.kept[settings.drive], { ...changes, record_rows: 0, streams: [ruleOf(1)] }, requests);
    return { run, busy: diskRecords(run, changes, drive).filter((disk) => disk.movements.length) };
  };
  const { run, busy } = recorded(1), data = new Set(recorded(0).busy.map((disk) => disk.disk));
  const what = (disk) => data.has(disk.disk) ? "data" : "parity";
  const steps = busy.flatMap((disk) => disk.movements.map((m) => ({ name: `${m.op ? "write new" : "read old"} ${what(disk)}`, disk: disk.disk, ...m })))
    .sort((a, b) => a.submitted_ns - b.submitted_ns || a.disk - b.disk);
  const writes = steps.filter((step) => step.op), ms = (ns) => (ns / 1e6).toFixed(2);
  const read = Math.max(...steps.filter((step) => !step.op).map((step) => step.done_ns)), total = run.doneNs[0] - run.issueNs[0];
  const text = `The write takes ${ms(total)} ms: ${ms(read)} ms to read old data and old parity, and ${ms(total - read)} ms to write the new ones. `
    + `For ${ms(Math.max(...writes.map((step) => step.rotation_ns)))} ms of that, the head waits until the sector comes round again; a revolution takes ${ms(busy[0].revolution_ns)} ms.`;
  return { panels: busy.map((disk) => ({ name: `disk ${disk.disk}: ${what(disk)}`, end_ns: run.endNs, ...disk })), story: { steps, text } };
}
