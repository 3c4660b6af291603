// The fewest disks of a kind and level that meet an objective, and why the rule of thumb differs.
import { backEndPerHost, isPossible, usableBytes } from "./array.js";
import { MAX_DISKS, SUSTAINED, WIDEST } from "./constants.js";

/** Requests of the first run, and of the longest one where shorter ones leave the limit inside the interval. */
const FIRST = 4_000, LONGEST = 128_000, LENGTHEN = 4;
/** Requests of a run that only asks whether the rate is sustained. */
const SHORT = 8_000;

/** One kind of drive in one level, under a question: {iops, read_ratio, size_bytes, stored_bytes, p99_ms, seed}. */
export class Family {
  constructor(bench, question, drive, level) {
    Object.assign(this, { bench, question, drive, level, trials: new Map() });
    this.counts = [];
    let most = 0;
    for (let disks = 1; disks <= MAX_DISKS; disks++) {
      const [name, groups] = this.#levelOf(disks);
      if (!isPossible(bench.levels[name], disks, groups) || (level === "raid1" && disks > 2)) continue;
      const room = this.usable(disks);
      if (room >= most) this.counts.push(disks);
      most = Math.max(most, room);
    }
  }
  /** RAID 5 and RAID 6 with more disks than a group may have become RAID 50 and RAID 60. */
  #levelOf(disks) {
    const [width, striped] = WIDEST[this.level] ?? [Infinity, ""], groups = Math.ceil(disks / width);
    return groups > 1 ? [striped, groups] : [this.level, 0];
  }
  settings(disks, changes = {}) {
    const [level, groups] = this.#levelOf(disks), { iops, read_ratio, size_bytes, seed } = this.question;
    const settings = { drive: this.drive, level, disks, strip_bytes: 65_536, has_failed_disk: false, scheduler: "drive", read_hit_ratio: 0,
      arrivals: "rate", rate_per_s: iops, read_ratio, size_bytes, pattern: "random", span_ratio: 1, seed, ...changes };
    return [settings, groups];
  }
  usable(disks) {
    const [settings, groups] = this.settings(disks);
    return usableBytes(this.bench.changes(settings, groups), this.bench.drives[this.drive]);
  }
  /** The verdict on so many disks: {verdict: "met", "failed" or "close", by, point}. */
  judge(disks) {
    if (!this.trials.has(disks)) this.trials.set(disks, this.#judge(disks));
    return this.trials.get(disks);
  }
  #judge(disks) {
    const { stored_bytes: stored, p99_ms: limit, iops } = this.question;
    if (this.usable(disks) < stored) return { verdict: "failed", by: "capacity", point: null };
    for (let n = FIRST; ; n *= LENGTHEN) {
      const point = this.run(disks, n), [, low, high] = point.p99_ms;
      if (!point.stable && (n >= LONGEST / LENGTHEN || point.iops[0] < 0.9 * iops)) return { verdict: "failed", by: "overload", point };
      if (point.stable && high !== null && high <= limit) return { verdict: "met", by: "latency", point };
      if (point.stable && low !== null && low > limit) return { verdict: "failed", by: "latency", point };
      if (n >= LONGEST) return { verdict: "close", by: "latency", point };
    }
  }
  /** Figures of a run on the stored data; `changes` to the settings, for example a failed disk. */
  run(disks, n, changes) {
    const [settings, groups] = this.settings(disks, changes);
    return this.bench.point(settings, this.question.iops, n, { groups, spanBytes: this.question.stored_bytes });
  }
  /** Disks by the rule of thumb: enough operations and enough space; the count after the last one where none is. */
  ruleOfThumb() {
    const { iops, read_ratio, stored_bytes: stored } = this.question, level = this.bench.levels[this.level];
    const needed = Math.max(Math.ceil(+(iops * backEndPerHost(level, read_ratio, 0) / this.bench.drives[this.drive].per_disk_iops).toFixed(9)), 1);
    return this.counts.find((disks) => disks >= needed && this.usable(disks) >= stored) ?? Math.max(needed, this.counts.at(-1) + 1);
  }
  /** The fewest disks that meet the objective, with the verdict on the next smaller number; `pause` may end the search. */
  async fewest(pause) {
    const { counts } = this, rule = this.ruleOfThumb();
    let bad = counts.findLastIndex((disks) => this.usable(disks) < this.question.stored_bytes), good = counts.length;
    let stride = 1, at = counts.findIndex((disks) => disks >= rule);
    at = Math.max(at < 0 ? counts.length - 1 : at, bad + 1);
    // away from the rule of thumb's number in growing strides, then by bisection
    while (good - bad > 1) {
      await pause();
      if (this.judge(counts[at]).verdict === "met") good = at;
      else bad = at;
      const isBracketed = bad >= 0 && this.trials.has(counts[bad]) && good < counts.length;
      at = isBracketed ? (good + bad) >> 1 : good < counts.length ? Math.max(good - stride, bad + 1) : Math.min(bad + stride, counts.length - 1);
      stride *= 2;
    }
    const disks = counts[good] ?? null, below = bad >= 0 ? this.judge(counts[bad]) : null;
    return { drive: this.drive, level: this.level, disks, rule, point: disks && this.judge(disks).point, below: bad >= 0 ? counts[bad] : null,
      limitedBy: below?.by ?? "minimum", isClose: below?.verdict === "close" };
  }
  /** The figures with one disk failed; null where the level has no redundancy. */
  degraded(disks) {
    const level = this.bench.levels[this.level];
    return level.n_parity || level.default_copies !== 1 ? this.run(disks, 16_000, { has_failed_disk: true }) : null;
  }
  /** Disks needed as the rule of thumb's assumptions are given up one after the other: [{step, disks, meaning}]. */
  async waterfall(found, pause) {
    const { iops, read_ratio } = this.question, { kind, per_disk_iops: perDisk } = this.bench.drives[this.drive], isDisk = kind === "hdd";
    const level = this.bench.levels[this.level], inOrder = isDisk ? { scheduler: "fcfs" } : {};
    const perHost = backEndPerHost(level, read_ratio, 0);
    const steps = [{ step: "rule of thumb", disks: found.rule, meaning: `A fixed ${Math.round(perDisk)} operations per second and disk, a penalty for each write, no waiting.` }];
    const add = async (step, meaning, run) => steps.push({ step, meaning, disks: await this.#fewestThat(steps.at(-1).disks ?? found.disks, run, pause) });
    const everywhere = (disks, changes, rate = iops) => {
      const [settings, groups] = this.settings(disks, changes);
      return this.bench.point(settings, rate, SHORT, { groups: changes.level ? 0 : groups });
    };
    await add(isDisk ? "seek and rotation" : "service times", "The drive's own times for as many single operations, in order of arrival, over whole disks.",
      (disks) => everywhere(disks, { ...inOrder, level: "raid0", read_ratio: 1 }, iops * perHost));
    await add(level.n_parity ? "parity" : "mirrors", level.n_parity ? "Small writes read old data and parity, wait for the platter to come round, and write both."
      : "Reads go to the copy that serves them sooner, writes to all copies.", (disks) => everywhere(disks, inOrder));
    if (isDisk) await add("elevator", "The drive chooses among waiting commands.", (disks) => everywhere(disks, {}));
    await add("region", "Requests fall on the stored data only, so that seeks are shorter.", (disks) => this.run(disks, SHORT));
    steps.push({ step: "queueing tail", disks: found.disks, meaning: "Requests wait in queues, and the slowest hundredth has to meet the limit." });
    return steps;
  }
  /** The fewest disks with room for the data of which `run` shows that they sustain the rate, searched away from `near`. */
  async #fewestThat(near, run, pause) {
    const counts = this.counts.filter((disks) => this.usable(disks) >= this.question.stored_bytes);
    const carries = (disks) => { const point = run(disks); return point.stable && point.utilization_ratio <= SUSTAINED; };
    let bad = -1, good = counts.length, stride = 1, at = counts.findIndex((disks) => disks >= near);
    if (at < 0) at = counts.length - 1;
    while (good - bad > 1) {
      await pause();
      if (carries(counts[at])) good = at;
      else bad = at;
      at = bad >= 0 && good < counts.length ? (good + bad) >> 1 : good < counts.length ? Math.max(good - stride, 0) : Math.min(bad + stride, counts.length - 1);
      stride *= 2;
    }
    return counts[good] ?? null;
  }
}

/** Answers a question, family by family: `report` gets each one as it is found. Returns all, the best one with its steps. */
export async function plan(bench, question, pause = async () => {}, report = () => {}) {
  const found = [], families = [];
  for (const drive of question.drives) {
    for (const level of question.levels) {
      const family = new Family(bench, question, drive, level), answer = await family.fewest(pause);
      if (answer.disks) answer.degraded = family.degraded(answer.disks);
      families.push(family);
      found.push(answer);
      report(answer);
    }
  }
  const feasible = found.filter((answer) => answer.disks);
  const best = feasible.sort((a, b) => a.disks - b.disks || a.point.p99_ms[0] - b.point.p99_ms[0])[0] ?? null;
  if (best) best.waterfall = await families[found.indexOf(best)].waterfall(best, pause);
  return { found, best };
}
