// A chart of curves with intervals, drawn as SVG; the arrow keys and the pointer read off its points.
import { element, figure } from "./words.js";

const NS = "http://www.w3.org/2000/svg";
const HEIGHT = 300, LEFT = 58, RIGHT = 14, TOP = 14, BOTTOM = 44;

function shape(name, attributes, text) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Round values between low and high. */
function ticks(low, high, isLog, wanted = 6) {
  if (isLog) {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      for (const x of Math.log10(high / low) > 2.2 ? [1] : [1, 2, 5]) found.push(x * 10 ** power);
    }
    return found.filter((x) => x >= low * 0.999 && x <= high * 1.001);
  }
  const rough = (high - low) / wanted, unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((x) => x * unit >= rough) * unit;
  return Array.from({ length: Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1 }, (_, i) => (Math.ceil(low / step - 1e-9) + i) * step);
}

export class Chart {
  /** `about`: {title, yLabel, xLabel (may be given later), yLog}. */
  constructor(box, about) {
    this.about = about;
    this.svg = shape("svg", { tabindex: 0, role: "img", "aria-label": `${about.title}; use the arrow keys to read off its points`, height: HEIGHT });
    this.legend = element("div", { className: "legend" });
    this.readout = element("div", { className: "readout", role: "status" });
    box.append(element("figcaption", {}, about.title), this.legend, this.svg, this.readout);
    this.at = null;
    this.data = null;
    new ResizeObserver(() => this.draw()).observe(this.svg);
    this.svg.addEventListener("keydown", (event) => this.#key(event));
    this.svg.addEventListener("pointermove", (event) => this.#point(event));
    for (const leave of ["pointerleave", "blur"]) this.svg.addEventListener(leave, () => { this.at = null; this.draw(); });
  }
  /** `data`: {curves: [{name, kind, points: [{x, y, low, high}]}], chosen, xLog, xLabel, across: {y, name}, unstable: [x]}. */
  set(data) {
    this.data = data;
    this.draw();
  }
  #key(event) {
    if (!this.data || event.ctrlKey || event.altKey || event.metaKey) return;
    const n = this.data.curves[0].points.length, at = this.at ?? (event.key === "ArrowLeft" ? n : -1);
    const next = { ArrowRight: Math.min(at + 1, n - 1), ArrowLeft: Math.max(at - 1, 0), Home: 0, End: n - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.at = next;
    this.draw();
  }
  #point(event) {
    if (!this.x) return;
    const px = event.clientX - this.svg.getBoundingClientRect().left;
    const away = this.data.curves[0].points.map((p) => Math.abs(this.x(p.x) - px));
    const at = away.indexOf(Math.min(...away));
    if (at !== this.at) { this.at = at; this.draw(); }
  }
  draw() {
    const width = this.svg.clientWidth, data = this.data;
    if (!data || width < 50) return;
    const { curves, xLog } = data, { yLog } = this.about;
    const known = curves.flatMap((c) => c.points).filter((p) => p.y !== null);
    const xs = curves.flatMap((c) => c.points.map((p) => p.x));
    const ys = known.flatMap((p) => [p.y, p.low ?? p.y, p.high ?? p.y]).concat(data.across ? [data.across.y] : []).filter((y) => !yLog || y > 0);
    const low = yLog ? Math.min(...ys, 1e3) / 1.3 : 0, high = ys.length ? Math.max(...ys) * (yLog ? 1.3 : 1.08) : 1;
    const left = Math.min(...xs), right = Math.max(...xs, left * 1.0001);
    const scale = (a, b, from, to, isLog) => isLog
      ? (v) => from + (to - from) * Math.log(v / a) / Math.log(b / a) : (v) => from + (to - from) * (v - a) / (b - a);
    const x = this.x = scale(xLog ? left : 0, right, LEFT, width - RIGHT, xLog), y = scale(low, high, HEIGHT - BOTTOM, TOP, yLog);
    const parts = [];
    for (const v of ticks(low, high, yLog)) {
      parts.push(shape("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(v), y2: y(v) }));
      parts.push(shape("text", { x: LEFT - 6, y: y(v) + 4, "text-anchor": "end" }, figure(v)));
    }
    const across = xLog ? [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].filter((v) => v >= left && v <= right) : ticks(0, right, false, width < 420 ? 4 : 7);
    for (const v of across) {
      parts.push(shape("line", { class: "grid", x1: x(v), x2: x(v), y1: TOP, y2: HEIGHT - BOTTOM }));
      parts.push(shape("text", { x: x(v), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, figure(v)));
    }
    parts.push(shape("text", { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, data.xLabel));
    if (data.unstable.length) {
      const from = x(Math.min(...data.unstable));
      parts.push(shape("rect", { class: "over", x: from - 6, y: TOP, width: Math.max(width - RIGHT - from + 6, 8), height: HEIGHT - BOTTOM - TOP }));
      parts.push(shape("text", { x: width - RIGHT - 4, y: TOP + 14, "text-anchor": "end" }, "overloaded"));
    }
    if (data.across && data.across.y >= low && data.across.y <= high) {
      parts.push(shape("line", { class: "rule", x1: LEFT, x2: width - RIGHT, y1: y(data.across.y), y2: y(data.across.y) }));
    }
    if (data.upright && data.upright.x <= right) {
      parts.push(shape("line", { class: "rule", x1: x(data.upright.x), x2: x(data.upright.x), y1: TOP, y2: HEIGHT - BOTTOM }));
    }
    for (const curve of [...curves].reverse()) {
      const drawn = curve.points.filter((p) => p.y !== null);
      const banded = drawn.filter((p) => p.low !== null && p.high !== null && (!yLog || p.low > 0));
      const path = (points) => points.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("");
      if (banded.length > 1) {
        const there = banded.map((p) => [x(p.x), y(p.high)]), back = banded.map((p) => [x(p.x), y(p.low)]).reverse();
        parts.push(shape("path", { class: curve.kind + "-band", d: path([...there, ...back]) + "Z" }));
      }
      parts.push(shape("path", { class: "line " + curve.kind, d: path(drawn.map((p) => [x(p.x), y(p.y)])) }));
      for (const p of drawn) parts.push(shape("circle", { class: curve.kind + "-dot", cx: x(p.x), cy: y(p.y), r: 3 }));
    }
    const chosen = curves[0].points.find((p) => p.x === data.chosen);
    if (chosen && chosen.y !== null) parts.push(shape("circle", { class: "chosen", cx: x(chosen.x), cy: y(chosen.y), r: 7 }));
    const read = curves[0].points[this.at ?? -1];
    if (read) parts.push(shape("line", { class: "cursor", x1: x(read.x), x2: x(read.x), y1: TOP, y2: HEIGHT - BOTTOM }));
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.svg.replaceChildren(...parts);
    this.#say(read);
  }
  #say(read) {
    const { curves, across, upright } = this.data;
    const line = (colour, text) => { const i = element("i", { className: colour === "rule" ? "dotted" : "" }); i.style.borderColor = `var(--${colour})`; return element("span", {}, i, text); };
    const names = curves.map((c) => line(c.kind === "now" ? "accent" : "kept", c.name));
    const rule = across ?? upright;
    this.legend.replaceChildren(...names, ...(rule ? [line("rule", rule.name)] : []));
    if (!read) { this.readout.textContent = ""; return; }
    const value = read.y === null ? "overloaded, no figure" : `${figure(read.y)} ${this.about.yLabel}`;
    this.readout.textContent = `at ${figure(read.x)} ${this.data.xUnit}: ${value}`;
  }
}
