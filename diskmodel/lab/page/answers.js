// Curves simulated in the page: the same loads, budgets and figures as `diskmodel.lab.curves`.
import { backEndPerHost, changesOf, unpacked, usableBytes } from "./array.js";
import { BUDGET, LOADS, MAX_OUTSTANDING, MAX_REQUESTS, MIN_REQUESTS, SATURATING, SHARES } from "./constants.js";
import { draw } from "./requests.js";
import { figures } from "./statistics.js";

/** Arrays in the kernel's hands: drives are kept there once, runs change the rest. */
export class Bench {
  /** `levels`: entries of `diskmodel.layout.levels` by name; `drives`: tables of drives by name. */
  constructor(kernel, levels) {
    Object.assign(this, { kernel, levels, drives: {}, kept: {} });
  }
  add(drive) {
    this.kept[drive.value] ??= this.kernel.keep(unpacked(drive).scenario);
    this.drives[drive.value] = drive;
  }
  has(name) {
    return name in this.drives;
  }
  changes(settings, groups) {
    return changesOf(settings, this.levels[settings.level], this.drives[settings.drive], groups);
  }
  /** Runs `n` requests of a workload, and estimates what the lab shows. `load`: clients, or arrivals a second. */
  point(settings, load, n, options = {}) {
    return { load, ...figures(this.#run(settings, load, n, options), settings.arrivals === "rate") };
  }
  /** The same run with all of its requests: {run, stable}. */
  recorded(settings, load, n) {
    const run = this.#run(settings, load, n, {});
    return { run, stable: figures(run, settings.arrivals === "rate").stable };
  }
  #run(settings, load, n, { groups = 0, spanBytes = null }) {
    const changes = this.changes(settings, groups), isOpen = settings.arrivals === "rate";
    const space = usableBytes(changes, this.drives[settings.drive]);
    const workload = { ...settings, span_bytes: spanBytes ?? Math.floor(space * settings.span_ratio), ...(isOpen ? { rate_per_s: load, clients: 0 } : { clients: load }) };
    const { requests, streams } = draw(workload, n, settings.seed);
    return this.kernel.run(this.kept[settings.drive], { ...changes, streams }, requests);
  }
  calculator(settings) {
    const level = this.levels[settings.level], perDisk = this.drives[settings.drive].per_disk_iops;
    const perHost = backEndPerHost(level, settings.read_ratio, settings.read_hit_ratio);
    return { write_penalty: level.write_penalty, per_disk_iops: perDisk, back_end_per_host: perHost, iops: perHost ? settings.disks * perDisk / perHost : null };
  }
}

/** How many small requests one request costs: each strip, page and cache block takes time. */
function work(settings, drive) {
  const page = drive.kind === "hdd" ? 65_536 : 32_768;
  return Math.max(settings.size_bytes / settings.strip_bytes / 2, settings.size_bytes / page, 1);
}

function commandsPerHost(settings, level, drive) {
  let reads = 1, writes = level.write_penalty;
  if (settings.level === "raid1") writes = settings.disks;
  else if (settings.has_failed_disk && writes > 2) [reads, writes] = [2, writes + settings.disks / 2];
  return (settings.read_ratio * reads + (1 - settings.read_ratio) * writes) * work(settings, drive);
}

/** Refuses a curve whose requests in progress would take too much memory (`diskmodel.lab.effort.check_curve`). */
function check(settings, level, n) {
  const isConcat = level.family === "concat", each = settings.level === "raid1" ? settings.disks : level.write_penalty;
  const strips = isConcat ? 1 : settings.level === "raid1" ? each : (Math.floor(settings.size_bytes / settings.strip_bytes) + 1) * each;
  const outstanding = settings.arrivals === "outstanding" ? Math.min(settings.outstanding, n) : n;
  if (outstanding * strips > MAX_OUTSTANDING) throw new Error("requests of this size touch too many strips at a time; use larger strips, smaller requests or fewer outstanding");
}

const threeDigits = (value) => Number(value.toPrecision(3));

/** Loads and requests of a curve: {loads, n}. */
export function ask(bench, settings, stage, effort = 1) {
  const level = bench.levels[settings.level], drive = bench.drives[settings.drive];
  const isOpen = settings.arrivals === "rate", chosen = isOpen ? settings.rate_per_s : settings.outstanding;
  check(settings, level, MIN_REQUESTS);
  const grid = isOpen ? SHARES[stage].map((share) => threeDigits(share * saturation(bench, settings, drive))) : LOADS[stage];
  const loads = [...new Set([...grid, chosen])].sort((a, b) => a - b);
  const n = Math.trunc(effort * BUDGET[stage] / (loads.length * commandsPerHost(settings, level, drive)));
  const most = Math.min(Math.max(n, MIN_REQUESTS), MAX_REQUESTS[stage]);
  check(settings, level, most);
  return { loads, n: most };
}

/** The rate that the array completes when it is kept busy. */
function saturation(bench, settings, drive) {
  const n = Math.max(Math.trunc(3000 / work(settings, drive)), 300), clients = Math.min(SATURATING * settings.disks, Math.floor(n / 6));
  const busy = { ...settings, arrivals: "outstanding", outstanding: clients };
  return Math.max(bench.point(busy, clients, n).iops[0], 1);
}

/** A curve, one point at a time, the chosen one first; `pause` lets a newer question end it by an exception. */
export async function curve(bench, settings, stage, effort, pause = async () => {}) {
  const started = performance.now(), { loads, n } = ask(bench, settings, stage, effort);
  const chosen = settings.arrivals === "rate" ? settings.rate_per_s : settings.outstanding, points = {};
  for (const load of [...loads].sort((a, b) => (a !== chosen) - (b !== chosen))) {
    await pause(Object.keys(points).length / loads.length);
    points[load] = bench.point(settings, load, n);
  }
  const shown = loads.map((load) => points[load]);
  return {
    stage, arrivals: settings.arrivals, points: shown, chosen: points[chosen], calculator: bench.calculator(settings),
    n_requests: shown.reduce((total, point) => total + point.n_requests, 0), engine: "browser",
    usable_bytes: usableBytes(bench.changes(settings), bench.drives[settings.drive]), answer_ms: performance.now() - started,
  };
}
