// Response times over time: one run at the chosen load, in which a band can be marked.
import { PART_NAMES } from "./constants.js";
import { showHeatMap } from "./heat_map.js";
import { colorOfPart, element, figure } from "./words.js";

const RELOAD_AFTER_MS = 300;
const $ = (id) => document.getElementById(id);

export class HeatView {
  /** `answer(settings)` returns a heat map, or throws an error with `faults`. */
  constructor(controls, answer) {
    Object.assign(this, { controls, answer, asked: 0, isShown: false });
  }
  shown(isShown) {
    const isNew = isShown && !this.isShown;
    this.isShown = isShown;
    if (isNew) this.ask(0);
  }
  /** Something was set. */
  ask(after = RELOAD_AFTER_MS) {
    clearTimeout(this.timer);
    document.documentElement.dataset.heatAsked = ++this.asked;
    if (this.isShown) this.timer = setTimeout(() => this.#run(), after);
  }
  async #run() {
    const { asked } = this, since = performance.now();
    try {
      const map = await this.answer(this.controls.settings);
      if (asked !== this.asked) return;
      $("heat-faults").replaceChildren();
      const turns = map.revolution_ms ? ` Dotted lines are whole revolutions of the disks (${figure(map.revolution_ms)} ms each).` : "";
      $("heat-meaning").textContent = `Each cell is a moment and a response time; the brighter, the more requests. Beside it all moments together. Mark a rectangle to see which mechanism made it.${turns}`
        + (map.stable ? "" : " The array is overloaded: the longer it runs, the longer requests take.");
      const box = element("div", {});
      $("heat-box").replaceChildren(box);
      showHeatMap(box, map, { names: PART_NAMES, colorOf: colorOfPart, title: this.controls.describe() });
      $("heat-status").textContent = `${map.n_requests.toLocaleString("en")} requests, simulated in ${figure((performance.now() - since) / 1000)} s.`;
      document.documentElement.dataset.heatShown = asked;
    } catch (error) {
      if (!error.faults) throw error;
      if (asked !== this.asked) return;
      $("heat-box").replaceChildren();
      $("heat-meaning").textContent = $("heat-status").textContent = "";
      $("heat-faults").replaceChildren(...error.faults.map((fault) => element("p", {}, fault.text)));
    }
  }
}
