// Estimates from a run, as `diskmodel.result.statistics` makes them in Python; tests compare the two.
import { BATCH_COUNTS, CORRELATION_Z, DEVIATIONS, LARGEST_CORRELATION, LONG_SERIES, MIN_BEYOND, MIN_BEYOND_IN_LONG, MIN_JUDGED, N_COUNTS, N_SAMPLES, N_SLOTS, SHORT_REQUESTS, STUDENT_T } from "./constants.js";

const UNKNOWN = [NaN, NaN];

const sum = (values) => { let total = 0; for (const value of values) total += value; return total; };
const mean = (values) => sum(values) / values.length;
const squares = (values, center) => { let total = 0; for (const value of values) total += (value - center) ** 2; return total; };

/** Means of equal batches; what does not divide is dropped at the front. */
function batches(values, n) {
  const size = Math.floor(values.length / n), from = values.length - size * n;
  return Array.from({ length: n }, (_, i) => values.subarray(from + i * size, from + (i + 1) * size));
}

/** Lag-1 correlation as von Neumann's ratio gives it. */
export function correlation(means) {
  const center = mean(means), spread = squares(means, center);
  if (spread <= 1e-30 * squares(means, 0)) return 0;
  let steps = (means[0] - center) ** 2 + (means[means.length - 1] - center) ** 2;
  for (let i = 1; i < means.length; i++) steps += (means[i] - means[i - 1]) ** 2;
  return 1 - steps / (2 * spread);
}

function adjustedEnds(center, means, r, least) {
  const n = means.length, spread = squares(means, center) / (n - 1);
  if (spread <= 1e-24 * center * center) return [center, center];
  const left = Math.min(Math.max(r + 1 / n, 0), LARGEST_CORRELATION), error = Math.sqrt(spread / n * (1 + left) / (1 - left));
  const isConstant = Math.max(...means) - Math.min(...means) <= 1e-12 * Math.abs(center);
  const b = isConstant ? 0 : skewness(means) / (6 * Math.sqrt(n)), t = STUDENT_T[n - 2];
  const skewed = (x) => Math.abs(b) < 1e-3 ? x : (Math.cbrt(1 + 6 * b * (x - b)) - 1) / (2 * b);
  return [Math.max(center - skewed(t) * error, least), center - skewed(-t) * error];
}

function skewness(values) {
  const n = values.length, center = mean(values), variance = squares(values, center) / n;
  const third = mean(values.map((value) => (value - center) ** 3));
  return Math.sqrt(n * (n - 1)) / (n - 2) * third / variance ** 1.5;
}

/** Mean of a correlated series with its 95 % interval, [mean, low, high]: batch means (`mean_interval`). */
export function meanInterval(values) {
  if (values.length < 20) return [values.length ? mean(values) : NaN, ...UNKNOWN];
  let means, r;
  for (const n of BATCH_COUNTS.filter((count) => values.length >= 2 * count)) {
    means = batches(values, n).map(mean);
    r = correlation(means);
    if (r <= CORRELATION_Z * Math.sqrt((n - 2) / (n * n - 1))) break;
  }
  return [mean(values), ...adjustedEnds(mean(values), means, r, least(values))];
}

const least = (values) => { for (const value of values) if (value < 0) return -Infinity; return 0; };

/** The least value with a share `level` of all at or below it. */
export function quantile(values, level) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(Math.ceil(sorted.length * level - 1), 0)];
}

/** Ends of the 95 % interval of a quantile (`quantile_interval`); NaN where there is too little data. */
export function quantileInterval(values, level) {
  const beyond = values.length * Math.min(level, 1 - level), few = BATCH_COUNTS.at(-1);
  const isLong = values.length >= LONG_SERIES && beyond / few >= MIN_BEYOND_IN_LONG;
  const n = BATCH_COUNTS.find((count) => beyond / count >= MIN_BEYOND) ?? (isLong ? few : 0);
  if (!n) return UNKNOWN;
  const whole = quantile(values, level), isAbove = Float64Array.from(values, (value) => Number(value > whole));
  const each = batches(values, n).map((batch) => quantile(batch, level)), shares = batches(isAbove, n).map(mean);
  const [low, high] = adjustedEnds(whole, each, correlation(each), least(each));
  const [fewest, most] = adjustedEnds(mean(isAbove), shares, correlation(shares), 0);
  const at = (share) => quantile(values, Math.min(Math.max(1 - share, 0), 1));
  return [Math.min(low, at(most)), Math.max(high, at(fewest))];
}

/** A rough interval of a quantile for shorter runs (`quick_quantile_interval`). */
export function quickQuantileInterval(values, level) {
  const n = values.length;
  if (n * Math.min(level, 1 - level) < 10) return UNKNOWN;
  const limit = quantile(values, level), above = Float64Array.from(values, (value) => Number(value > limit));
  const means = batches(above, 10).map(mean), left = Math.min(Math.max(correlation(means) + 0.1, 0), LARGEST_CORRELATION);
  const variance = squares(means, mean(means)) / 9 / 10 * (1 + left) / (1 - left);
  const error = 2.262 * Math.sqrt(Math.max(variance, level * (1 - level) / n));
  return [quantile(values, Math.max(level - error, 0)), quantile(values, Math.min(level + error, 1))];
}

/** Observations to drop at the front (`warm_up`). */
export function warmUp(values) {
  const dropped = mser5(values);
  return dropped && isUnlike(values, dropped) ? dropped : 0;
}

function mser5(values) {
  const n = Math.floor(values.length / 5);
  if (n < 4) return 0;
  const z = Float64Array.from({ length: n }, (_, i) => mean(values.subarray(5 * i, 5 * i + 5))), center = mean(z);
  let total = 0, square = 0, best = 0, smallest = Infinity;
  const limit = Math.floor(n / 2), errors = new Float64Array(n);
  for (let i = n - 1; i >= 0; i--) {
    total += z[i] - center;
    square += (z[i] - center) ** 2;
    errors[i] = Math.max(square - total * total / (n - i), 0) / (n - i) ** 2;
  }
  for (let i = 0; i <= limit; i++) if (errors[i] < smallest) [smallest, best] = [errors[i], i];
  return 5 * best;
}

function isUnlike(values, dropped) {
  const piece = Math.max(Math.min(dropped, Math.floor(values.length / 20)), 1), start = mean(values.subarray(0, piece));
  let low = Infinity, high = -Infinity;
  for (let at = dropped; at + piece <= values.length; at += piece) {
    const one = mean(values.subarray(at, at + piece));
    low = Math.min(low, one);
    high = Math.max(high, one);
  }
  return start < low || start > high;
}

/** How many of the ascending values are at or below a limit. */
function countUntil(sorted, limit) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether an open stream was served as fast as it came (`judge_stability`). */
export function isStable(issueNs, doneNs, untilNs) {
  if (issueNs.length < MIN_JUDGED || untilNs <= 0) return true;
  const came = Float64Array.from(issueNs).sort(), left = Float64Array.from(doneNs).sort();
  const until = (sorted) => Float64Array.from({ length: N_SAMPLES }, (_, i) => countUntil(sorted, (i + 1) * (untilNs / N_SAMPLES)));
  const nCame = until(came), nLeft = until(left), inside = nCame.map((n, i) => n - nLeft[i]);
  const half = N_SAMPLES / 2, quarter = N_SAMPLES / 4;
  const first = inside.slice(0, half), last = inside.subarray(half), sorted = first.slice().sort();
  const median = (sorted[half / 2 - 1] + sorted[half / 2]) / 2;
  const growth = mean(last.subarray(quarter)) - mean(last.subarray(0, quarter));
  const isRising = growth > 0 && growth >= (mean(last) - mean(first)) / 6;
  const grows = isRising && Math.min(...last) > median;
  return !(grows && (issueNs.length >= SHORT_REQUESTS || isMoreThanChance(nCame, inside)));
}

/** Whether more came than left over the last half than random arrivals explain. */
function isMoreThanChance(nCame, inside) {
  const half = N_SAMPLES / 2, end = N_SAMPLES - 1, step = N_SAMPLES / N_COUNTS;
  const counts = Float64Array.from({ length: N_COUNTS - 1 }, (_, i) => nCame[(i + 1) * step] - nCame[i * step]), center = mean(counts);
  const dispersion = center > 0 ? squares(counts, center) / counts.length / center : 0;
  return inside[end] - inside[half - 1] > DEVIATIONS * Math.sqrt(2 * dispersion * (nCame[end] - nCame[half - 1]));
}

function throughput(doneInOrder, startNs, endNs) {
  const seconds = (endNs - startNs) / 1e9, slots = new Float64Array(N_SLOTS);
  let before = 0;
  for (let i = 0; i < N_SLOTS; i++) {
    const until = countUntil(doneInOrder, Math.floor(startNs + (i + 1) / N_SLOTS * (endNs - startNs)));
    slots[i] = (until - before) * (N_SLOTS / seconds);
    before = until;
  }
  const [value, low, high] = meanInterval(slots), rate = doneInOrder.length / seconds, shift = rate - value;
  return [rate, low >= 0 ? Math.max(low + shift, 0) : low + shift, high + shift];
}

/** Part of a run of one stream that is measured: {startNs, endNs, rows in order of completion} (`measuring_window`). */
function measured({ issueNs, doneNs, endNs: runEndNs }) {
  const order = Uint32Array.from(doneNs, (_, row) => row).sort((a, b) => doneNs[a] - doneNs[b] || a - b);
  let endNs = 0;
  for (const time of issueNs) endNs = Math.max(endNs, time);
  const inOrder = Float64Array.from(order, (row) => doneNs[row]), rows = order.subarray(0, countUntil(inOrder, endNs));
  const dropped = warmUp(Float64Array.from(rows, (row) => doneNs[row] - issueNs[row]));
  const startNs = dropped ? doneNs[rows[dropped - 1]] : 0;
  const kept = dropped ? rows.subarray(countUntil(inOrder, startNs)) : rows;
  if (!kept.length || endNs <= startNs) return { startNs: 0, endNs: Math.max(runEndNs, inOrder.at(-1), 1), rows: order };
  return { startNs, endNs, rows: kept };
}

/** Figures of a run for the lab, as `diskmodel.lab.curves.figures` gives them. */
export function figures(run, isOpen) {
  const { issueNs, doneNs, parts, partsNs } = run, { startNs, endNs, rows } = measured(run);
  const responses = Float64Array.from(rows, (row) => doneNs[row] - issueNs[row]);
  let last = 0;
  for (const time of issueNs) last = Math.max(last, time);
  const stable = !isOpen || isStable(issueNs, doneNs, last), ms = (values) => values.map((value) => stable && Number.isFinite(value) ? value / 1e6 : null);
  let ends = quantileInterval(responses, 0.99);
  if (Number.isNaN(ends[0])) ends = quickQuantileInterval(responses, 0.99);
  const part = (at) => { let total = 0; for (const row of rows) total += partsNs[row * parts.length + at]; return total / rows.length; };
  return {
    n_requests: doneNs.length,
    stable,
    iops: throughput(Float64Array.from(rows, (row) => doneNs[row]), startNs, endNs).map((value) => Number.isFinite(value) ? value : null),
    mean_ms: ms(meanInterval(responses)),
    p99_ms: ms([quantile(responses, 0.99), ...ends]),
    utilization_ratio: mean(run.busyNs) / Math.max(run.endNs, 1),
    back_end_per_host: sum(run.nCommands) / doneNs.length,
    breakdown_ms: Object.fromEntries(parts.map((name, at) => [name, ms([part(at)])[0]])),
    absorbed_writes: 0,
  };
}
