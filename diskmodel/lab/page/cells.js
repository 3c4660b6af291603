// A run as a heat map: the same cells as `diskmodel.result.statistics.heat_map`.
import { ask } from "./answers.js";
import { BEYOND, LEAST_RANGE, MARGIN, N_LATENCIES, N_TIMES } from "./constants.js";

/** Quantile between two values where it falls between them. */
function between(sorted, level) {
  const at = (sorted.length - 1) * level, low = Math.floor(at), high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

/** The first of the ascending edges that is above a value (or, `isLeft`, not below it). */
function search(edges, value, isLeft) {
  let low = 0, high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isLeft ? edges[middle] < value : edges[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many requests ended when, and after how long, with the parts of their time (`HeatMap.to_dict`). */
export function heatMapOf({ issueNs, doneNs, parts, partsNs }, revolutionMs, nTimes = N_TIMES, nLatencies = N_LATENCIES) {
  const n = doneNs.length, responses = Float64Array.from(doneNs, (done, row) => Math.max((done - issueNs[row]) / 1e6, 1e-6));
  const sorted = responses.slice().sort(), [low, high] = [BEYOND, 1 - BEYOND].map((level) => between(sorted, level));
  const [first, last] = [low / MARGIN, Math.max(high, low * LEAST_RANGE) * MARGIN], end = doneNs.reduce((most, at) => Math.max(most, at), 0) / 1e9;
  const latencyMs = Array.from({ length: nLatencies + 1 }, (_, i) => i === nLatencies ? last : first * (last / first) ** (i / nLatencies));
  const startS = Array.from({ length: nTimes + 1 }, (_, i) => i === nTimes ? end : end * i / nTimes);
  const grid = () => Array.from({ length: nTimes }, () => new Array(nLatencies).fill(0));
  const counts = grid(), spent = parts.map(grid), most = parts.map(() => 0);
  const within = (at, size) => Math.min(Math.max(at - 1, 0), size - 1);
  for (let row = 0; row < n; row += 1) {
    const i = within(search(startS, doneNs[row] / 1e9, true), nTimes), j = within(search(latencyMs, responses[row], false), nLatencies);
    counts[i][j] += 1;
    parts.forEach((_, at) => {
      const ns = partsNs[row * parts.length + at];
      spent[at][i][j] += ns / 1e6;
      most[at] = Math.max(most[at], ns);
    });
  }
  const kept = parts.map((name, at) => [name, spent[at]]).filter((_, at) => most[at] > 0);
  return { start_s: startS, latency_ms: latencyMs, counts, parts_ms: Object.fromEntries(kept), revolution_ms: revolutionMs };
}

/** The heat map of a run at the chosen load, as long as a point of the refined curve (`diskmodel.lab.heat`). */
export function heat(bench, settings) {
  const load = settings.arrivals === "rate" ? settings.rate_per_s : settings.outstanding, { n } = ask(bench, settings, "refined");
  const { run, stable } = bench.recorded(settings, load, n);
  return { ...heatMapOf(run, bench.drives[settings.drive].revolution_ms), n_requests: n, stable, engine: "browser" };
}
