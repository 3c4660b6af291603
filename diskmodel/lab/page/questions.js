// Questions of the quiz with answers simulated in the page, as `diskmodel.lab.quiz`.

/** Requests of each run that decides an answer (`quiz.N_REQUESTS`). */
const N_REQUESTS = { outstanding: 30_000, rate: 200_000 };

/** A number of 32 bits for one draw of a question (`quiz_questions.drawn`). */
export function drawn(seed, number, draw) {
  let mixed = Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b) ^ Math.imul(draw + 1, 0xc2b2ae35);
  mixed ^= mixed >>> 16;
  mixed = Math.imul(mixed, 0x21f0aaad);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** What question `number` of a seed asks: an entry of `quiz_tables`. */
export function asked(tables, number, seed) {
  const { sizes, asked: all } = tables[number % tables.length];
  return all[sizes.reduce((at, size, k) => at * size + drawn(seed, number, k) % size, 0)];
}

/** The answer of a question by the model, and which choices its interval overlaps (`Quiz.reveal`). */
export function revealed(bench, one, choice) {
  const ends = (found) => Array.isArray(found) ? [found[0], found[1] ?? found[0], found[2] ?? found[0]] : [found, found, found];
  const values = one.settings.map((settings) => {
    const load = settings.arrivals === "rate" ? settings.rate_per_s : settings.outstanding;
    return ends(bench.point(settings, load, N_REQUESTS[settings.arrivals])[one.figure]);
  });
  const [value, low, high] = values.length === 2 ? ratio(values) : values[0];
  const edges = [-Infinity, ...one.borders, Infinity];
  const right = edges.slice(1).flatMap((above, n) => low < above && high >= edges[n] ? [n] : []);
  return {
    is_right: right.includes(choice), right, answer: { value, low, high }, unit: one.unit, why: one.why,
    runs: one.names.map((name, i) => ({ name, figure: one.figure_text, value: values[i][0], low: values[i][1], high: values[i][2] })),
    settings: one.settings.at(-1),
  };
}

/** The second over the first; errors of independent runs add in squares. */
function ratio([[a, aLow, aHigh], [b, bLow, bHigh]]) {
  const value = b / a;
  return [value, value * (1 - Math.hypot((b - bLow) / b, (aHigh - a) / a)), value * (1 + Math.hypot((bHigh - b) / b, (a - aLow) / a))];
}
