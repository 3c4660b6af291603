// Plays a recorded run: time, speed and steps, by buttons and keys; reduced motion begins paused.
import { element, figure } from "./words.js";

const MS = 1e6;
/** A run should take so long to watch, seconds; speeds are powers of two. */
const WATCHED_S = 25, SLOWEST = 14;

export class Player {
  /** `show(now)` draws an instant (ns); the controls are put into `box`. */
  constructor(box, show) {
    Object.assign(this, { show, now: 0, last: 1, steps: [0], isPlaying: false, before: null });
    const button = (text, label, does) => { const made = element("button", { type: "button" }, text); if (label) made.ariaLabel = label; made.onclick = does; return made; };
    this.toggleButton = button("Play", "", () => this.toggle());
    this.toggleButton.className = "play";
    this.speed = element("input", { type: "range", min: 0, max: SLOWEST, step: 1, id: "player-speed" });
    this.slow = element("output", {});
    this.slow.setAttribute("for", "player-speed");
    this.place = element("input", { type: "range", min: 0, max: 1000, step: 1, value: 0, className: "place", ariaLabel: "Time of the run" });
    this.clock = element("span", { className: "clock", "aria-hidden": "true" });
    const label = element("label", { htmlFor: "player-speed" }, "speed ");
    label.append(this.speed, this.slow);
    box.append(this.toggleButton, button("◀ step", "Previous step", () => this.step(-1)), button("step ▶", "Next step", () => this.step(1)), label, this.clock, this.place);
    this.speed.oninput = () => this.#tell();
    this.place.oninput = () => { this.isPlaying = false; this.to(this.last * this.place.value / 1000); };
    box.addEventListener("keydown", (event) => this.#key(event));
    const frame = (wall) => {
      if (this.isPlaying && this.before !== null) this.to(this.now + this.perSecond * Math.min(wall - this.before, 100) / 1000);
      this.before = wall;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
  /** Nanoseconds of the run in a second. */
  get perSecond() { return 1e9 / 2 ** (SLOWEST - Number(this.speed.value)); }
  /** Begins a run that ends at `last`; `steps` are the instants at which something changes. */
  begin(last, steps) {
    this.last = last;
    this.steps = [...new Set([0, ...steps, last])].sort((a, b) => a - b);
    this.speed.value = Math.max(0, SLOWEST - Math.max(0, Math.round(Math.log2(WATCHED_S * 1e9 / last))));
    this.isPlaying = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.to(0);
  }
  stop() {
    this.isPlaying = false;
    this.#tell();
  }
  to(now) {
    this.now = Math.min(Math.max(now, 0), this.last);
    if (this.now >= this.last) this.isPlaying = false;
    this.show(this.now);
    this.#tell();
  }
  toggle() {
    if (!this.isPlaying && this.now >= this.last) this.now = 0;
    this.isPlaying = !this.isPlaying;
    this.#tell();
  }
  step(direction) {
    this.isPlaying = false;
    this.to(direction > 0 ? this.steps.find((at) => at > this.now + 1) ?? this.last : this.steps.findLast((at) => at < this.now - 1) ?? 0);
  }
  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const isSlider = event.target instanceof HTMLInputElement;
    if (event.key === " " && event.target instanceof HTMLButtonElement) return;
    const keys = { " ": () => this.toggle(), ...(isSlider ? {} : { ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), Home: () => this.to(0) }) };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  }
  #tell() {
    this.toggleButton.textContent = this.isPlaying ? "Pause" : "Play";
    const slower = Math.round(1e9 / this.perSecond);
    this.slow.textContent = slower === 1 ? "real time" : `${slower.toLocaleString("en")} × slower`;
    this.clock.textContent = `${(this.now / MS).toFixed(1)} of ${figure(this.last / MS)} ms`;
    this.place.value = Math.round(1000 * this.now / this.last);
    this.place.setAttribute("aria-valuetext", `${(this.now / MS).toFixed(1)} milliseconds`);
  }
}
