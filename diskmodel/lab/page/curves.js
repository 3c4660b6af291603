// The answers: asks for a curve at each change, quickly first, then with more requests.
import { Chart } from "./chart.js";
import { element, figure, interval, percent } from "./words.js";

const REFINE_AFTER_MS = 350;
// a quick answer should take less than 200 ms: where it takes longer, the next one comes from fewer requests
const WANTED_MS = 100, SLOW_MS = 130, FAST_MS = 60, MIN_EFFORT = 0.2;
const $ = (id) => document.getElementById(id);

export class Curves {
  constructor(controls) {
    this.controls = controls;
    this.iops = new Chart($("chart-iops"), { title: "Requests per second", yLabel: "requests a second", yLog: false });
    this.p99 = new Chart($("chart-p99"), { title: "99 of 100 are done within (ms)", yLabel: "ms", yLog: true });
    this.kept = null;
    this.asked = 0;
    this.isBusy = false;
    this.effort = 1;
    // ?refine=no: quick answers only, each from as many requests, for machines that have other work to do
    this.refines = new URLSearchParams(location.search).get("refine") !== "no";
    $("keep").onclick = () => { this.kept = { data: this.data, name: controls.describe() }; this.draw(); };
    $("drop").onclick = () => { this.kept = null; this.draw(); $("keep").focus(); };
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
      // while a slider moves, each answer is shown: an old one is nearer than none
      if (data) {
        this.#show(data, performance.now() - since, asked);
        this.#pace(data.answer_ms);
      }
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
    const body = JSON.stringify(this.controls.settings);
    let answer;
    try {
      answer = await fetch(`/curve?stage=${stage}&effort=${stage === "quick" ? this.effort : 1}`, { method: "POST", body, signal });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      this.#faults([{ text: "The lab does not answer: was it ended? Start it again with `diskmodel lab`." }]);
      return null;
    }
    const data = await answer.json().catch(() => ({ faults: [{ text: `The lab failed (status ${answer.status}).` }] }));
    if (!answer.ok) { this.#faults(data.faults); return null; }
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
    const engine = data.engine === "native" ? "by the native kernel" : "by the reference engine, as the kernel does not cover these settings";
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
    const shared = { chosen: data.chosen.load, xLog: !isOpen, xLabel: isOpen ? "requests that come each second" : "requests outstanding",
      xUnit: isOpen ? "a second" : "outstanding", unstable: data.points.filter((p) => !p.stable).map((p) => p.load) };
    const promised = data.calculator.iops, name = `calculator: ${figure(promised)} a second`;
    // a promise far off the picture would flatten the curve
    const most = Math.max(...data.points.map((p) => p.iops[0]));
    this.iops.set({ ...shared, curves: curves("iops"), across: promised < 4 * most ? { y: promised, name } : null });
    this.p99.set({ ...shared, curves: curves("p99_ms"), across: null, upright: isOpen ? { x: promised, name } : null });
  }
  #answers({ chosen, calculator, arrivals, stage }) {
    const load = arrivals === "rate" ? `${figure(chosen.load)} a second` : `${chosen.load} outstanding`;
    const item = (name, value, beside) => element("div", {}, element("dt", {}, name), element("dd", {}, element("strong", {}, value), element("span", {}, beside)));
    // a short run may take a queue that still fills up for one that grows without end
    const isSure = stage === "refined";
    const none = isSure ? "overloaded" : "overloaded?";
    $("answers").replaceChildren(
      item("requests a second", figure(chosen.iops[0]), interval(chosen.iops)),
      item("99 of 100 within", chosen.stable ? `${figure(chosen.p99_ms[0])} ms` : none, chosen.stable ? `${interval(chosen.p99_ms)}` : isSure ? "the backlog grows without end" : "a longer run decides"),
      item("mean", chosen.stable ? `${figure(chosen.mean_ms[0])} ms` : none, chosen.stable ? interval(chosen.mean_ms) : "no latency to report"),
      item("disks busy", percent(chosen.utilization_ratio), `at ${load}`),
      item("disk operations a request", figure(chosen.back_end_per_host), `calculator: ${figure(calculator.back_end_per_host)}`),
    );
    $("brief").textContent = `${figure(chosen.iops[0])} a second · ` + (chosen.stable ? `99 of 100 within ${figure(chosen.p99_ms[0])} ms` : none);
    const promised = `A calculator promises ${figure(calculator.iops)} requests a second: ${figure(calculator.per_disk_iops)} for each disk, a write counted ${calculator.write_penalty} times.`;
    const full = chosen.sustained_iops === null ? "" : ` Until the write-back cache was full, ${figure(chosen.burst_iops)} a second; then ${figure(chosen.sustained_iops)}.`;
    const burst = chosen.is_burst ? " The write-back cache did not fill up in this run: this is what a burst sees." : full;
    const ratio = chosen.iops[0] / calculator.iops;
    const said = !chosen.stable ? (isSure ? ` At ${load} the array is overloaded.` : ` At ${load} the array seems to be overloaded.`)
      : ` At ${load} the model says ${figure(chosen.iops[0])}, ${figure(100 * ratio)} % of that, and tells how long requests take.`;
    $("beside").textContent = promised + said + burst;
  }
  #breakdown(chosen) {
    const parts = Object.entries(chosen.breakdown_ms).filter(([, ms]) => ms !== null && ms > 0);
    const total = parts.reduce((sum, [, ms]) => sum + ms, 0);
    if (!total) { $("breakdown").replaceChildren(element("p", {}, "An overloaded array has no mean to divide.")); return; }
    const colour = (part) => getComputedStyle(document.documentElement).getPropertyValue(`--${part}`) ? `var(--${part})` : "var(--other)";
    const swatch = (name, part) => { const made = element("span", { className: name }); made.style.background = colour(part); return made; };
    const bar = element("div", { className: "bar", "aria-hidden": "true" }, ...parts.map(([part, ms]) => {
      const made = swatch("", part);
      made.style.width = 100 * ms / total + "%";
      return made;
    }));
    const list = parts.map(([part, ms]) => element("li", {}, swatch("swatch", part), `${part} ${figure(ms)} ms`));
    $("breakdown").replaceChildren(bar, element("ul", { className: "parts" }, ...list, element("li", {}, `together ${figure(total)} ms`)));
  }
  #table(points) {
    const row = (cells, kind) => element("tr", {}, ...cells.map((cell) => element(kind, {}, cell)));
    const head = row(["load", "requests/s", "interval", "mean, ms", "p99, ms", "interval", "disks busy", "operations"], "th");
    const rows = points.map((p) => row([figure(p.load), figure(p.iops[0]), interval(p.iops),
      ...(p.stable ? [figure(p.mean_ms[0]), figure(p.p99_ms[0]), interval(p.p99_ms)] : ["overloaded", "", ""]),
      percent(p.utilization_ratio), figure(p.back_end_per_host)], "td"));
    $("table").replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  }
}
