// What a commit costs where the log lies: the same simulations as `diskmodel.lab.commits`.
import { changesOf, lanesOf, usableBytes } from "./array.js";
import { draw, ruleOf, uniform } from "./requests.js";
import { figures, isStable } from "./statistics.js";

/** Draws of the time that clients work; another generator than those of reads. */
const WORK = 4;
/** What follows a write of the log: a flush (`diskmodel.records.Sync`). */
const FLUSH = 1;

/** What the kernel needs to know of the place of a log: {name of the drive, changes}. `about`: `offers.commits`. */
export function placeOf(bench, place, settings, about) {
  const name = place === "device" ? about.log_device : settings.drive, drive = bench.drives[name], isMirror = place === "mirror";
  const whole = { disks: isMirror ? 2 : 1, strip_bytes: 65_536, has_failed_disk: false, scheduler: "drive", read_hit_ratio: 0 };
  const changes = changesOf(whole, bench.levels[isMirror ? "raid1" : "jbod"], drive);
  if (place === "on" || isMirror) changes.dirty_sectors = drive.write_cache_sectors;
  if (place === "protected") changes.cache = { ...about.cache, lanes: lanesOf(changes.layout, about.cache.block_sectors, about.destages, changes.depth) };
  return { name, changes };
}

/** Rows of a log and of reads beside it, in this order, and how they come: {requests, streams}. */
export function drawLog(settings, about, { nLog, nReads, readsPerS, spanBytes }) {
  const work = uniform(settings.seed, WORK), n = nLog + nReads;
  const requests = { n, whenNs: new Float64Array(n), offset: new Float64Array(n), length: new Float64Array(n).fill(about.record_bytes),
    cacheDraw: new Float64Array(n), stream: new Int32Array(n), op: new Uint8Array(n).fill(1) };
  for (let row = 0; row < nLog; row++) requests.whenNs[row] = Math.round(-Math.log1p(-work()) * settings.work_ms * 1e6);
  const log = { ...ruleOf(settings.clients), sync: FLUSH, log_bytes: about.span_bytes, log_block_bytes: about.block_bytes };
  if (!nReads) return { requests, streams: [log] };
  const reads = draw({ size_bytes: about.read_bytes, read_ratio: 1, pattern: "random", span_bytes: spanBytes, rate_per_s: readsPerS }, nReads, settings.seed);
  for (const key of ["whenNs", "offset", "length", "cacheDraw", "op"]) requests[key].set(reads.requests[key], nLog);
  requests.stream.fill(1, nLog);
  return { requests, streams: [log, ...reads.streams] };
}

/** The rows of one stream up to the time at which the first of the streams ends, as a run of their own. */
function streamUntil({ issueNs, doneNs, parts, partsNs, endNs, busyNs, nCommands }, from, to, untilNs) {
  const rows = [];
  for (let row = from; row < to; row++) if (issueNs[row] <= untilNs) rows.push(row);
  const of = (column) => Float64Array.from(rows, (row) => column[row]), n = parts.length;
  return { issueNs: of(issueNs), doneNs: of(doneNs), parts, partsNs: Float64Array.from({ length: rows.length * n }, (_, i) => partsNs[rows[Math.floor(i / n)] * n + i % n]), endNs, busyNs, nCommands };
}
const latest = (values) => values.reduce((most, value) => Math.max(most, value), 0);

/** Commits at one place: {place, is_stable, commits_per_s, mean_ms, p99_ms, breakdown_ms} (`diskmodel.lab.commits.answer_at`). */
export function commitsAt(bench, place, settings, about) {
  const { name, changes } = placeOf(bench, place, settings, about), drive = bench.drives[name];
  const run = (rows) => {
    const { requests, streams } = drawLog(settings, about, { ...rows, spanBytes: usableBytes(changes, drive) });
    return bench.kernel.run(bench.kept[name], { ...changes, streams }, requests);
  };
  const shown = (found, stable) => ({ place, is_stable: stable, commits_per_s: found.iops[0], mean_ms: found.mean_ms, p99_ms: found.p99_ms, breakdown_ms: found.breakdown_ms });
  const alone = run({ nLog: about.n_commits, nReads: 0 }), found = figures(alone, false);
  const readsPerS = place === "device" ? 0 : settings.load_ratio * drive.per_disk_iops;
  if (!readsPerS) return shown(found, true);
  // as many of both as come in the same time while the reads do not slow the commits down
  const wanted = Math.max(about.n_commits / found.iops[0], about.min_reads / readsPerS);
  const seconds = Math.min(wanted, about.max_commits / found.iops[0], about.max_reads / readsPerS);
  const nLog = Math.round(seconds * found.iops[0]), nReads = Math.round(seconds * readsPerS);
  if (nReads < about.min_reads) return shown(found, true);
  const both = run({ nLog, nReads, readsPerS }), { issueNs, doneNs } = both;
  const until = Math.min(latest(issueNs.subarray(0, nLog)), latest(issueNs.subarray(nLog)));
  const stable = isStable(issueNs.slice(nLog), doneNs.slice(nLog), latest(issueNs.subarray(nLog)));
  return shown(figures(streamUntil(both, 0, nLog, until), false), stable);
}

/** All places, one at a time; `pause` lets a newer question end it by an exception. */
export async function commits(bench, settings, about, pause = async () => {}) {
  const rows = [];
  for (const { value } of about.places) {
    await pause();
    rows.push(commitsAt(bench, value, settings, about));
  }
  return rows;
}
