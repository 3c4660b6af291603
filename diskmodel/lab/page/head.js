// The moving head: a separate page in a frame, reloaded when the settings change.
import { element } from "./words.js";

const RELOAD_AFTER_MS = 400;
const $ = (id) => document.getElementById(id);

export class Head {
  constructor(controls, offers) {
    Object.assign(this, { controls, offers });
    this.isShown = false;
    for (const [id, chosen] of [["left", "fcfs"], ["right", "sptf"]]) {
      $(id).append(...offers.schedulers.filter((s) => s.value !== "drive").map((s) => element("option", { value: s.value, selected: s.value === chosen }, s.text)));
    }
    $("panel-head").addEventListener("change", () => this.changed(0));
    $("head").addEventListener("load", () => this.#fit());
  }
  shown(isShown) {
    this.isShown = isShown;
    this.changed(0);
  }
  changed(after = RELOAD_AFTER_MS) {
    clearTimeout(this.timer);
    if (this.isShown) this.timer = setTimeout(() => this.#load(), after);
  }
  #load() {
    const show = document.querySelector("input[name=show]:checked").value;
    const drive = this.offers.drives.find((one) => one.value === this.controls.settings.drive);
    const isArmless = !drive?.has_one_arm;
    $("armless").textContent = isArmless ? `${drive?.text ?? "This drive"} has no single arm to show: choose a hard disk with one actuator.` : "";
    $("pair").hidden = isArmless || show !== "schedulers";
    $("head").hidden = $("saving").hidden = isArmless;
    if (isArmless) return;
    const query = new URLSearchParams({ show, settings: JSON.stringify(this.controls.settings) });
    if (show === "schedulers") {
      query.set("schedulers", `${$("left").value},${$("right").value}`);
      query.set("requests", $("replayed").value);
    }
    const url = `/moving-head?${query}`;
    $("save").href = url + "&save=1";
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
