// How many disks? A question, and the fewest disks of each kind and level, as they are found.
import { Controls, planControls } from "./controls.js";
import { AS_DESCRIBED, bytes, element, figure, percent } from "./words.js";

const ASK_AFTER_MS = 250;
/** Part of the usable space that may be filled, as in the example plan. */
const FILL_LIMIT = 0.8;
const LIMITS = { capacity: "capacity", latency: "latency", overload: "load", minimum: "smallest possible" };
const $ = (id) => document.getElementById(id);

export class PlanView {
  /** `answer(question, report, signal)` plans; `changed()` stores the question in the address; `open(settings)` shows curves; `only`: controls that are shown. */
  constructor(offers, answer, changed, open, only) {
    Object.assign(this, { offers, answer, open, asked: 0 });
    const { defaults, ...definitions } = planControls(offers, only);
    this.controls = new Controls($("plan-controls"), defaults, definitions, () => { changed(); this.ask(); });
    addEventListener("hashchange", () => { if (this.isStarted) this.ask(); });
  }
  start() {
    if (!this.isStarted) this.ask();
    this.isStarted = true;
  }
  get question() {
    const { need_iops, need_reads, need_size, need_tb, need_p99, need_drives, need_levels } = this.controls.settings;
    const listed = (text, known) => text.split(",").filter((name) => known.some((one) => one.value === name));
    return { iops: need_iops, read_ratio: need_reads, size_bytes: need_size, stored_bytes: Math.trunc(need_tb * 1e12 / FILL_LIMIT), p99_ms: need_p99,
      drives: listed(need_drives, this.offers.drives), levels: listed(need_levels, this.offers.levels), seed: 0 };
  }
  ask() {
    this.running?.abort();
    clearTimeout(this.timer);
    document.documentElement.dataset.planAsked = ++this.asked;
    this.timer = setTimeout(() => this.#run(), ASK_AFTER_MS);
  }
  async #run() {
    const question = this.question, asked = this.asked, since = performance.now(), rows = [];
    this.running = new AbortController();
    const total = question.drives.length * question.levels.length;
    $("plan-verdict").textContent = total ? "Simulating …" : "Choose at least one drive and one level.";
    $("plan-why").replaceChildren();
    $("plan-table").replaceChildren();
    $("plan-progress").value = 0;
    $("plan-progress").classList.toggle("done", !total);
    if (!total) return;
    try {
      const { best } = await this.answer(question, (found) => {
        if (asked !== this.asked) return;
        rows.push(found);
        $("plan-progress").value = rows.length / total;
        this.#table(question, rows, null);
      }, this.running.signal);
      if (asked !== this.asked) return;
      this.#table(question, rows, best);
      this.#verdict(question, best, rows);
      $("plan-status").textContent = `${rows.length} kinds of array searched in ${figure((performance.now() - since) / 1000)} s, each trial from 4,000 to 128,000 requests. Write caches of the drives are off.`;
      $("plan-progress").classList.add("done");
      document.documentElement.dataset.planShown = asked;
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!error.faults) throw error;
      $("plan-verdict").textContent = error.faults.map((fault) => fault.text).join(" ");
    }
  }
  #name(key, value) {
    return this.offers[key].find((one) => one.value === value).text.replace(/ \(.*/, "");
  }
  #verdict(question, best, rows) {
    if (!best) {
      const all = rows.every((row) => row.limitedBy === "latency") ? "No number of disks brings the slowest requests below the limit." : "No array of up to 64 of these disks is enough.";
      $("plan-verdict").textContent = all;
      return;
    }
    const { disks, point, degraded, below, isClose, limitedBy, rule } = best;
    const why = below === null ? "The level allows no fewer." : limitedBy === "capacity" ? `${below} have too little space.`
      : isClose ? `${below} are too close to the limit to decide.` : limitedBy === "overload" ? `${below} do not keep up with the load.` : `With ${below} the p99 latency is above the limit.`;
    const failed = !degraded ? " A failed disk loses the data." : degraded.stable ? ` With one disk failed p99 is ${figure(degraded.p99_ms[0])} ms.` : " With one disk failed the array is overloaded.";
    const shown = element("button", { type: "button" }, "See the curves of this array");
    shown.onclick = () => this.open({ drive: best.drive, level: best.level, disks, read_ratio: question.read_ratio, size_bytes: question.size_bytes, arrivals: "rate", rate_per_s: question.iops });
    $("plan-verdict").replaceChildren(
      element("strong", {}, `${disks} disks of ${this.#name("drives", best.drive)} in ${this.#name("levels", best.level)}.`),
      ` p99 is ${figure(point.p99_ms[0])} ms ${AS_DESCRIBED}, at most ${question.p99_ms} ms. ${why}${failed} The rule of thumb says ${rule}.`);
    $("plan-why").replaceChildren(...this.#fall(best), shown);
  }
  /** What lies between the rule of thumb and the answer; one sentence where nothing does. */
  #fall({ waterfall, rule, disks, limitedBy }) {
    if (waterfall.some((step) => step.disks !== disks)) return [element("h2", {}, `From the rule of thumb's ${rule} disks to ${disks}`), this.#waterfall(waterfall)];
    const named = waterfall.slice(1).map((one) => one.step), last = named.pop();
    const why = limitedBy === "capacity" ? "The data need so many disks in any case" : "No assumption of it makes a difference";
    return [element("h2", {}, "The rule of thumb is right here"), element("p", {}, `${why}: ${named.join(", ")} and ${last} do not change the number. A tighter limit or more requests would.`)];
  }
  #waterfall(steps) {
    const most = Math.max(...steps.map((step) => step.disks ?? 0));
    return element("ol", { className: "waterfall" }, ...steps.map(({ step, disks, meaning }) => {
      const bar = element("span", { className: "step", "aria-hidden": "true" });
      bar.style.width = `${100 * (disks ?? most) / most}%`;
      return element("li", {}, element("span", { className: "named" }, element("strong", {}, step), disks === null ? "more than 64" : String(disks)), bar, element("span", { className: "meaning" }, meaning));
    }));
  }
  #table(question, rows, best) {
    const cells = (values, kind) => values.map((value) => element(kind, {}, value));
    const head = element("tr", {}, ...cells(["drive", "level", "disks", "p99, ms", "rule", "limited by", "disk failed", "busy"], "th"));
    const body = rows.map((row) => element("tr", { className: row === best || (best && row.drive === best.drive && row.level === best.level) ? "best" : "" }, ...cells([
      this.#name("drives", row.drive), this.#name("levels", row.level), row.disks ? String(row.disks) : "none",
      row.disks ? figure(row.point.p99_ms[0]) : "", String(row.rule), LIMITS[row.limitedBy] + (row.isClose ? " (close)" : ""),
      ...(row.disks ? [!row.degraded ? "data lost" : row.degraded.stable ? figure(row.degraded.p99_ms[0]) : "overloaded", percent(row.point.utilization_ratio)] : ["", ""]),
    ], "td")));
    const caption = element("caption", {}, `Fewest disks for ${question.iops.toLocaleString("en")} requests of ${bytes(question.size_bytes)} a second`);
    $("plan-table").replaceChildren(element("table", {}, caption, element("thead", {}, head), element("tbody", {}, ...body)));
  }
}
