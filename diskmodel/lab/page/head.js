// The moving head: a separate page in a frame, reloaded when the settings change.
import { element } from "./words.js";

const RELOAD_AFTER_MS = 400;
const FIRST = { show: "schedulers", left: "fcfs", right: "sptf", replayed: "200" };
const $ = (id) => document.getElementById(id);

export class Head {
  /** `page({settings, show, schedulers, n})` answers with {url, save} or {html}, or throws an error with `faults`. */
  constructor(controls, offers, page, stored) {
    Object.assign(this, { controls, offers, page, isShown: false, asked: 0 });
    for (const id of ["left", "right"]) {
      $(id).append(...offers.schedulers.filter((s) => s.value !== "drive").map((s) => element("option", { value: s.value, selected: s.value === FIRST[id] }, s.text)));
    }
    $("panel-head").addEventListener("change", () => { stored(); this.changed(0); });
    $("head").addEventListener("load", () => this.#fit());
  }
  get chosen() {
    return { show: document.querySelector("input[name=show]:checked").value, left: $("left").value, right: $("right").value, replayed: $("replayed").value };
  }
  own() {
    return Object.entries(this.chosen).filter(([key, value]) => value !== FIRST[key]);
  }
  takeText(query) {
    for (const [key, first] of Object.entries(FIRST)) {
      const inputs = key === "show" ? [...document.querySelectorAll("input[name=show]")] : [...$(key).options];
      const found = inputs.find((one) => one.value === query.get(key)) ?? inputs.find((one) => one.value === first);
      found[key === "show" ? "checked" : "selected"] = true;
    }
    this.changed(0);
  }
  shown(isShown) {
    this.isShown = isShown;
    this.changed(0);
  }
  changed(after = RELOAD_AFTER_MS) {
    clearTimeout(this.timer);
    if (this.isShown) this.timer = setTimeout(() => this.#load(), after);
  }
  async #load() {
    const { show, left, right, replayed } = this.chosen, { settings } = this.controls, asked = ++this.asked;
    const drive = this.offers.drives.find((one) => one.value === settings.drive), isArmless = !drive?.has_one_arm;
    $("armless").textContent = isArmless ? `${drive?.text ?? "This drive"} has no single arm to show: choose a hard disk with one actuator.` : "";
    $("pair").hidden = isArmless || show !== "schedulers";
    $("head").hidden = $("saving").hidden = isArmless;
    if (isArmless) return;
    try {
      this.#put(await this.page({ settings, show, schedulers: [left, right], n: Number(replayed) }), asked);
    } catch (error) {
      if (!error.faults) throw error;
      $("head").hidden = $("saving").hidden = true;
      $("armless").textContent = error.faults.map((fault) => fault.text).join(" ");
    }
  }
  #put({ url, save, html }, asked) {
    if (asked !== this.asked) return;
    if (html !== undefined) {
      if (html === this.html) return;
      this.html = $("head").srcdoc = html;
      URL.revokeObjectURL($("save").href);
      $("save").href = URL.createObjectURL(new Blob([html], { type: "text/html" }));
      $("save").download = "moving-head.html";
      return;
    }
    $("save").href = save;
    if (url !== this.url) $("head").src = this.url = url;
  }
  /** Make the frame as tall as its contents, so that only the page scrolls. */
  #fit() {
    const inside = $("head").contentDocument?.body;
    if (!inside) return;
    const fit = () => { $("head").style.height = `${Math.ceil(inside.getBoundingClientRect().height) + 4}px`; };
    new ResizeObserver(fit).observe(inside);
    fit();
  }
}
