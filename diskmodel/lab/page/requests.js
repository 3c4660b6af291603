// Requests of a workload, drawn as Python draws them: another generator, the same distributions (rules W1 to W5).

/** Largest natural alignment, bytes (`diskmodel.workload.stream.MAX_NATURAL_ALIGNMENT_BYTES`). */
const MAX_ALIGNMENT = 2 ** 20;
/** Numbers of the draws; each kind has a generator of its own, so that changing one thing leaves the others as they were. */
const KIND = { op: 0, address: 2, arrival: 3, cache: 5, region: 8 };

/** Uniform numbers in [0, 1) with 53 bits from sfc32 (C. Doty-Humphrey, PractRand), seeded by splitmix32. */
export function uniform(seed, kind) {
  let mixed = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(kind + 1, 0x85ebca6b)) | 0;
  const split = () => {
    mixed = (mixed + 0x9e3779b9) | 0;
    let z = mixed ^ (mixed >>> 16);
    z = Math.imul(z, 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) | 0;
  };
  let a = split(), b = split(), c = split(), counter = 1;
  const next = () => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t | 0;
    return t >>> 0;
  };
  // the first numbers still show the seed
  for (let i = 0; i < 12; i++) next();
  return () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;
}

/** Multiples of what a request of this size starts at: the largest power of two that divides it (rule W5). */
export const alignment = (size) => Math.min(2 ** Math.round(Math.log2(size & -size)), MAX_ALIGNMENT);

/**
 * Draws `n` requests: {n, whenNs, offset, length, cacheDraw, stream, op}, and the rule of their stream.
 *
 * `workload`: {size_bytes, read_ratio, pattern ("random", "hot_spot" or "sequential"), span_bytes, and either clients or rate_per_s}.
 * An open stream has exponential gaps (Poisson arrivals); clients issue their next request when the last one is done.
 * Every aligned place of the region is equally likely; with "hot_spot", 80 % of the requests fall on the first fifth.
 */
export function draw(workload, n, seed) {
  const { size_bytes: size, read_ratio: reads, rate_per_s: rate, clients = 0 } = workload;
  const step = alignment(size), places = Math.floor((workload.span_bytes - size) / step) + 1;
  const [op, address, arrival, cache] = ["op", "address", "arrival", "cache"].map((kind) => uniform(seed, KIND[kind]));
  const place = workload.pattern === "sequential" ? sequentialPlace(workload.span_bytes, size, step) : workload.pattern === "hot_spot" ? hotPlace(places, uniform(seed, KIND.region), address) : () => Math.floor(address() * places);
  const made = { n, whenNs: new Float64Array(n), offset: new Float64Array(n), length: new Float64Array(n).fill(size),
    cacheDraw: new Float64Array(n), stream: new Int32Array(n), op: new Uint8Array(n) };
  let sum = 0;
  for (let row = 0; row < n; row++) {
    if (!clients) made.whenNs[row] = Math.round((sum -= Math.log1p(-arrival())) * 1e9 / rate);
    made.op[row] = op() < reads ? 0 : 1;
    made.offset[row] = Math.min(place(), places - 1) * step;
    made.cacheDraw[row] = cache();
  }
  return { requests: made, streams: [ruleOf(clients)] };
}

/** How the rows of a stream of so many clients come, as the kernel reads it; 0: at their times. */
export function ruleOf(clients) {
  const log = { log_first_byte: 0, log_bytes: 0, log_block_bytes: 1, log_delay_ns: 0 };
  const journal = { journal_first_byte: 0, journal_bytes: 0, journal_body_bytes: 0, journal_more_bytes: 0, journal_block_bytes: 0, journal_tick_ns: 0, is_of_file: 0 };
  return { n_clients: clients, pace_ns: 0, sync: 0, sync_every: 1, ...log, ...journal };
}

/** Each request begins where the last one ended; from the end of the region back to its front. */
function sequentialPlace(span, size, step) {
  const around = Math.max(Math.floor(span / size) * size, step);
  let at = -size;
  return () => (at = (at + size) % around) / step;
}

function hotPlace(places, region, address) {
  const hot = Math.max(Math.round(0.2 * places), 1);
  return () => {
    const isHot = region() < 0.8 || hot === places, at = address();
    return isHot ? Math.floor(at * hot) : hot + Math.floor(at * (places - hot));
  };
}
