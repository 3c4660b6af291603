// The native kernel as WebAssembly: scenarios and requests in, completions out. The same code in a browser and under Node.

const WORD = 2 ** 32;

/** Whole numbers beyond 32 bits as the kernel keeps them; they are exact up to 2^53, three months in nanoseconds. */
export class Whole {
  /** `n` numbers of 8 bytes at `at` of `buffer`. */
  constructor(buffer, at, n) {
    this.low = new Uint32Array(buffer, at, 2 * n);
    this.high = new Int32Array(buffer, at, 2 * n);
  }
  get(i) { return this.high[2 * i + 1] * WORD + this.low[2 * i]; }
  set(i, value) {
    this.low[2 * i] = value % WORD;
    this.high[2 * i + 1] = Math.floor(value / WORD);
  }
}

/** What the kernel refuses: a scenario or requests that break one of its rules. */
export class Refusal extends Error {}

export class Kernel {
  /** A kernel from the bytes of the compiled module. */
  static async from(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Kernel(instance.exports);
  }
  constructor(exports) {
    this.exports = exports;
  }
  /** Keeps a scenario, as `diskmodel.engine.native.array_of` makes it, for runs; returns its number. */
  keep(scenario) {
    return this.#withBytes(new TextEncoder().encode(JSON.stringify(scenario)), (at, n) => this.#checked(this.exports.keep(at, n)));
  }
  /**
   * Runs requests through a kept scenario after some changes to it.
   *
   * `requests`: {n, whenNs, offset, length, cacheDraw, stream, op}: arrays of numbers, as in `diskmodel.records.Requests`.
   * Returns {issueNs, doneNs, partsNs (by part), isHit, endNs, busyNs, nCommands, said (what was recorded, too)}.
   */
  run(kept, changes, requests) {
    const { n } = requests, { exports } = this, nBytes = 37 * n;
    const at = this.#reserve(nBytes);
    try {
      const { buffer } = exports.memory;
      ["whenNs", "offset", "length"].forEach((name, i) => {
        const column = new Whole(buffer, at + 8 * n * i, n);
        for (let row = 0; row < n; row++) column.set(row, requests[name][row]);
      });
      new Float64Array(buffer, at + 24 * n, n).set(requests.cacheDraw);
      new Int32Array(buffer, at + 32 * n, n).set(requests.stream);
      new Uint8Array(buffer, at + 36 * n, n).set(requests.op);
      const text = new TextEncoder().encode(JSON.stringify(changes));
      this.#withBytes(text, (from, length) => this.#checked(exports.run(kept, from, length, at, n)));
    } finally {
      exports.release(at, nBytes);
    }
    return this.#completions(n);
  }
  #completions(n) {
    const said = JSON.parse(this.#text()), { buffer } = this.exports.memory;
    const times = (number, count) => {
      const column = new Whole(buffer, this.exports.column(number), count), values = new Float64Array(count);
      for (let i = 0; i < count; i++) values[i] = column.get(i);
      return values;
    };
    const isHit = new Uint8Array(buffer, this.exports.column(3), n).slice();
    return { issueNs: times(0, n), doneNs: times(1, n), partsNs: times(2, n * said.parts.length), isHit,
      parts: said.parts, endNs: said.end_ns, busyNs: said.busy_ns, nCommands: said.n_commands, said };
  }
  #reserve(n) {
    const at = this.exports.reserve(n);
    if (at === 0) throw new Refusal(`there is no memory for ${n} bytes`);
    return at;
  }
  #withBytes(bytes, use) {
    const at = this.#reserve(bytes.length);
    try {
      new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
      return use(at, bytes.length);
    } finally {
      this.exports.release(at, bytes.length);
    }
  }
  #checked(code) {
    if (code < 0) throw new Refusal(this.#text());
    return code;
  }
  #text() {
    const { memory, text, text_length: length } = this.exports;
    return new TextDecoder().decode(new Uint8Array(memory.buffer, text(), length()));
  }
}
