// The results: requests a curve after each change, first a quick one, then one from more requests.
import { Chart } from "./chart.js";
import { AS_DESCRIBED, colorOfPart, element, figure, percent } from "./words.js";

const REFINE_AFTER_MS = 350;
// a quick answer should take less than 200 ms: when one takes longer, the next one simulates fewer requests
const WANTED_MS = 100, SLOW_MS = 130, FAST_MS = 60, MIN_EFFORT = 0.2;
const ENGINES = {
  native: "by the native kernel",
  simpy: "by the reference engine, because the kernel does not support these settings",
  browser: "by the native kernel, in this page",
};
const $ = (id) => document.getElementById(id);

export class Curves {
  /**
   * `answer(settings, stage, effort, signal)` returns a curve, or throws an error with `faults`; `effort` is the first
   * one's. `stored()` puts the kept curve's settings into the address.
   */
  constructor(controls, answer, effort, stored) {
    Object.assign(this, { controls, answer, effort });
    this.iops = new Chart($("chart-iops"), { title: "Requests per second", yLabel: "requests per second", yLog: false });
    this.p99 = new Chart($("chart-p99"), { title: "p99 latency (ms)", yLabel: "ms", yLog: true });
    this.kept = null;
    // settings of a kept curve that the address names and that is not simulated yet
    this.owed = null;
    this.asked = 0;
    this.isBusy = false;
    // ?refine=no: quick answers only, each from the same number of requests, for machines that are busy
    this.refines = new URLSearchParams(location.search).get("refine") !== "no";
    const hold = (kept) => { this.kept = kept; this.owed = null; this.draw(); stored(); };
    $("keep").onclick = () => hold({ data: this.data, name: controls.describe(), text: new URLSearchParams(controls.own()).toString() });
    $("drop").onclick = () => { hold(null); $("keep").focus(); };
  }
  own() {
    const text = this.kept?.text ?? this.owed;
    return text === null ? [] : [["kept", text]];
  }
  takeText(query) {
    const text = query.get("kept");
    if (text === (this.kept?.text ?? null)) return;
    this.kept = null;
    this.owed = text;
  }
  /** Simulates the curve that the address keeps for comparison. */
  async #recall() {
    const text = this.owed, settings = this.controls.parsed(new URLSearchParams(text));
    try {
      const data = await this.answer(settings, "quick", 1, null);
      if (text !== this.owed) return;
      this.kept = { data, name: this.controls.describe(settings), text };
      this.draw();
    } catch (error) {
      if (!error.faults) throw error;
    }
    this.owed = null;
  }
  /** Something was set: ask at once, or as soon as the question under way is answered. */
  ask() {
    this.asked++;
    this.since ??= performance.now();
    clearTimeout(this.timer);
    this.refining?.abort();
    document.documentElement.dataset.asked = this.asked;
    if (!this.isBusy) this.#quick();
  }
  async #quick() {
    this.isBusy = true;
    const asked = this.asked, since = this.since;
    this.since = null;
    try {
      const data = await this.#fetch("quick", null);
      // while a slider moves, every answer is shown: an outdated one is better than none
      if (data) {
        this.#show(data, performance.now() - since, asked);
        this.#pace(data.answer_ms);
      }
      if (this.owed !== null) await this.#recall();
    } finally {
      this.isBusy = false;
    }
    if (asked !== this.asked) this.#quick();
    else if (this.refines) this.timer = setTimeout(() => this.#refine(), REFINE_AFTER_MS);
  }
  #pace(ms) {
    if (!this.refines || (ms > FAST_MS && ms < SLOW_MS)) return;
    const effort = this.effort * WANTED_MS / ms;
    this.effort = Math.min(Math.max(Math.round(20 * effort) / 20, MIN_EFFORT), 1);
  }
  async #refine() {
    if (!this.data) return;
    const since = performance.now(), asked = this.asked;
    this.refining = new AbortController();
    try {
      const data = await this.#fetch("refined", this.refining.signal);
      if (data && asked === this.asked) this.#show(data, performance.now() - since, asked);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }
  async #fetch(stage, signal) {
    let data;
    try {
      data = await this.answer(this.controls.settings, stage, stage === "quick" ? this.effort : 1, signal);
    } catch (error) {
      if (!error.faults) throw error;
      this.#faults(error.faults);
      return null;
    }
    this.#faults([]);
    return data;
  }
  #faults(faults) {
    $("faults").replaceChildren(...faults.map((fault) => element("p", {}, fault.text)));
    if (faults.length) this.data = null;
    $("keep").disabled = !this.data;
    $("panel-curves").classList.toggle("stale", faults.length > 0);
  }
  #show(data, ms, asked) {
    this.data = data;
    $("keep").disabled = false;
    this.draw();
    this.#answers(data);
    this.#breakdown(data.chosen);
    this.#table(data.points);
    const runs = `${data.points.length} loads, ${data.n_requests.toLocaleString("en")} requests simulated`;
    const engine = ENGINES[data.engine];
    $("status").textContent = `${runs} ${engine}; ` + (data.stage === "quick" ? `answered in ${Math.round(ms)} ms${this.refines ? ", a longer run follows" : ""}.` : `refined in ${figure(ms / 1000)} s.`);
    Object.assign(document.documentElement.dataset, { shown: asked, stage: data.stage, answerMs: ms.toFixed(1), serverMs: data.answer_ms.toFixed(1) });
  }
  draw() {
    const data = this.data;
    $("drop").hidden = !this.kept;
    if (!data) return;
    const isOpen = data.arrivals === "rate";
    const kept = this.kept && this.kept.data.arrivals === data.arrivals ? this.kept : null;
    const curve = (from, name, kind, key) => ({ name, kind, points: from.points.map((p) => ({ x: p.load, y: p[key][0], low: p[key][1], high: p[key][2] })) });
    const curves = (key) => [curve(data, "now", "now", key), ...(kept ? [curve(kept.data, `kept: ${kept.name}`, "kept", key)] : [])];
    const shared = { chosen: data.chosen.load, xLog: !isOpen, xLabel: isOpen ? "arrivals per second" : "requests outstanding",
      xUnit: isOpen ? "per second" : "outstanding", unstable: data.points.filter((p) => !p.stable).map((p) => p.load) };
    const predicted = data.calculator.iops, name = `rule of thumb: ${figure(predicted)} per second`;
    // a prediction far above the curve would flatten it
    const most = Math.max(...data.points.map((p) => p.iops[0]));
    this.iops.set({ ...shared, curves: curves("iops"), across: predicted < 4 * most ? { y: predicted, name } : null });
    this.p99.set({ ...shared, curves: curves("p99_ms"), across: null, upright: isOpen ? { x: predicted, name } : null });
  }
  #answers({ chosen, calculator, arrivals, stage }) {
    const load = arrivals === "rate" ? `${figure(chosen.load)} per second` : `${chosen.load} outstanding`;
    const item = (name, value, beside) => element("div", {}, element("dt", {}, name), element("dd", {}, element("strong", {}, value), element("span", {}, beside)));
    // a short run cannot distinguish a queue that is still filling from one that grows without limit
    const isSure = stage === "refined";
    const none = isSure ? "overloaded" : "overloaded?";
    $("answers").replaceChildren(
      item("requests per second", figure(chosen.iops[0]), AS_DESCRIBED),
      item("p99 latency", chosen.stable ? `${figure(chosen.p99_ms[0])} ms` : none, chosen.stable ? AS_DESCRIBED : isSure ? "the backlog grows without limit" : "a longer run decides"),
      item("mean latency", chosen.stable ? `${figure(chosen.mean_ms[0])} ms` : none, chosen.stable ? AS_DESCRIBED : "no latency to report"),
      item("disks busy", percent(chosen.utilization_ratio), `at ${load}`),
      item("disk operations per request", figure(chosen.back_end_per_host), `rule of thumb: ${figure(calculator.back_end_per_host)}`),
    );
    $("brief").textContent = `${figure(chosen.iops[0])} per second · ` + (chosen.stable ? `p99 ${figure(chosen.p99_ms[0])} ms` : none);
    const rule = `The rule of thumb predicts ${figure(calculator.iops)} requests per second: ${figure(calculator.per_disk_iops)} per disk, with each write counted ${calculator.write_penalty} times.`;
    const burst = chosen.absorbed_writes > 0 ? ` Beyond that load, the write cache absorbs a burst of ${chosen.absorbed_writes.toLocaleString("en")} writes.` : "";
    const ratio = chosen.iops[0] / calculator.iops;
    const model = !chosen.stable ? (isSure ? ` At ${load} the array is overloaded.` : ` At ${load} the array seems to be overloaded.`)
      : ` At ${load} the model predicts ${figure(chosen.iops[0])}, ${figure(100 * ratio)} % of that.`;
    $("beside").textContent = rule + model + burst;
  }
  #breakdown(chosen) {
    const parts = Object.entries(chosen.breakdown_ms).filter(([, ms]) => ms !== null && ms > 0);
    const total = parts.reduce((sum, [, ms]) => sum + ms, 0);
    if (!total) { $("breakdown").replaceChildren(element("p", {}, "An overloaded array has no mean latency to break down.")); return; }
    const swatch = (name, part) => { const made = element("span", { className: name }); made.style.background = colorOfPart(part); return made; };
    const bar = element("div", { className: "bar", "aria-hidden": "true" }, ...parts.map(([part, ms]) => {
      const made = swatch("", part);
      made.style.width = 100 * ms / total + "%";
      return made;
    }));
    const list = parts.map(([part, ms]) => element("li", {}, swatch("swatch", part), `${part} ${figure(ms)} ms`));
    $("breakdown").replaceChildren(bar, element("ul", { className: "parts" }, ...list, element("li", {}, `total ${figure(total)} ms`)));
  }
  #table(points) {
    const row = (cells, kind) => element("tr", {}, ...cells.map((cell) => element(kind, {}, cell)));
    const head = row(["load", "requests/s", "mean, ms", "p99, ms", "disks busy", "operations"], "th");
    const rows = points.map((p) => row([figure(p.load), figure(p.iops[0]),
      ...(p.stable ? [figure(p.mean_ms[0]), figure(p.p99_ms[0])] : ["overloaded", ""]),
      percent(p.utilization_ratio), figure(p.back_end_per_host)], "td"));
    $("table").replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  }
}
