// What does a commit cost? The same clients and their log, side by side on the places where a log may lie.
import { Controls, commitsControls } from "./controls.js";
import { counted, element, figure } from "./words.js";

const ASK_AFTER_MS = 150;
const $ = (id) => document.getElementById(id);

export class CommitsView {
  /** `answer(settings, signal)` simulates all places; `changed()` stores the question in the address; `only`: controls that are shown. */
  constructor(offers, answer, changed, only) {
    Object.assign(this, { about: offers.commits, answer, asked: 0 });
    const { defaults, ...definitions } = commitsControls(offers, only);
    this.controls = new Controls($("commits-controls"), defaults, definitions, () => { changed(); this.ask(); });
    addEventListener("hashchange", () => { if (this.isStarted) this.ask(); });
  }
  start() {
    if (!this.isStarted) this.ask();
    this.isStarted = true;
  }
  get settings() {
    const { log_drive, log_clients, log_work, log_load } = this.controls.settings;
    return { drive: log_drive, clients: log_clients, work_ms: log_work, load_ratio: log_load, seed: this.about.defaults.seed };
  }
  ask() {
    this.running?.abort();
    clearTimeout(this.timer);
    document.documentElement.dataset.commitsAsked = ++this.asked;
    this.timer = setTimeout(() => this.#run(), ASK_AFTER_MS);
  }
  async #run() {
    const { settings, asked } = this, since = performance.now();
    this.running = new AbortController();
    try {
      const rows = await this.answer(settings, this.running.signal);
      if (asked !== this.asked) return;
      this.#table(rows);
      this.#verdict(settings, rows);
      $("commits-status").textContent = `${this.about.n_commits.toLocaleString("en")} commits at each place, simulated in ${figure((performance.now() - since) / 1000)} s.`;
      document.documentElement.dataset.commitsShown = asked;
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!error.faults) throw error;
      if (asked !== this.asked) return;
      $("commits-table").replaceChildren();
      $("commits-verdict").textContent = error.faults.map((fault) => fault.text).join(" ");
    }
  }
  #verdict({ clients }, rows) {
    const [disk, best] = ["on", "protected"].map((place) => rows.find((row) => row.place === place));
    const meanOf = ({ mean_ms: [mean] }) => `${figure(mean)} ms`;
    $("commits-verdict").replaceChildren(
      element("strong", {}, disk.is_stable ? `A commit takes ${meanOf(disk)} on this disk, and ${meanOf(best)} behind a protected cache.` : `The disk cannot serve these reads beside the log.`),
      ` ${counted(clients, "client")}: ${figure(disk.commits_per_s)} commits a second, or ${figure(best.commits_per_s)}.`);
  }
  #table(rows) {
    const cells = (values, kind) => values.map((value) => element(kind, {}, value));
    const most = Math.max(...rows.map((row) => row.commits_per_s));
    const head = element("tr", {}, ...cells(["the log lies", "commits/s", "mean, ms", "p99, ms"], "th"));
    const body = rows.map((row) => {
      const { text, meaning } = this.about.places.find((one) => one.value === row.place);
      const bar = element("span", { className: "step", "aria-hidden": "true" });
      bar.style.width = `${Math.max(100 * row.commits_per_s / most, 0.4)}%`;
      const place = element("td", {}, element("strong", {}, text), bar, element("span", { className: "meaning" }, meaning));
      const times = row.is_stable ? [figure(row.mean_ms[0]), figure(row.p99_ms[0])] : ["overloaded", ""];
      return element("tr", {}, place, ...cells([figure(row.commits_per_s), ...times], "td"));
    });
    $("commits-table").replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
  }
}
