// The array: all disks at once. What the strips hold, and what every arm does, come from a recorded run.
import { Player } from "./player.js";
import { counted, element, figure, percent } from "./words.js";

const NS = "http://www.w3.org/2000/svg";
const RELOAD_AFTER_MS = 300;
/** Rows of strips that are shown at a time; on a narrow page the text in a cell is left out below so many pixels. */
const ROWS = 12, ROW_HEIGHT = 22, READABLE = 26;
const PLATTER = 118, TOP = 20, GAP = 14, BUCKET = 54;
const SCENES = [
  { value: "load", text: "the load" },
  { value: "write", text: "one small write" },
  { value: "failed", text: "a disk failed" },
  { value: "rebuild", text: "a rebuild" },
  { value: "cache", text: "a write cache fills" },
];
const MEANINGS = {
  load: "Every disk has one arm. Dots are waiting requests, at the height of their place on the disk: the outer edge is at the top.",
  write: "One write of 4 KiB on an idle array. Each operation is an access of one arm; where new parity is needed, old data is read first.",
  failed: "Disk 0 has failed. What it held is computed from the other disks of its row, or read from the copy.",
  rebuild: "Disk 0 has failed, and a spare takes its place, strip by strip, while the load goes on.",
  cache: "Writes come faster than the disks can take them. The cache answers at once until it is full; from then on every write waits.",
};
const $ = (id) => document.getElementById(id);

function shape(name, attributes, text) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
const end = (m) => m.start_ns + m.seek_ns + m.rotation_ns + m.transfer_ns;
const eased = (x) => x * x * (3 - 2 * x);
const label = (strip) => strip === null || strip === undefined ? "" : strip >= 0 ? String(strip) : "PQRSTU"[-1 - strip];
const held = (strip) => strip === null || strip === undefined ? "unused space" : strip >= 0 ? `data strip ${strip}` : `parity ${label(strip)}`;

/** Where an arm is and what it does at an instant. */
function stateAt(disk, now) {
  let cylinder = 0, current = null, waiting = [];
  for (const m of disk.movements) {
    if (m.submitted_ns > now) continue;
    if (m.start_ns > now) { waiting.push(m); continue; }
    const share = m.seek_ns ? Math.min((now - m.start_ns) / m.seek_ns, 1) : 1;
    cylinder = m.from_cylinder + (m.cylinder - m.from_cylinder) * eased(share);
    current = now < end(m) ? m : null;
  }
  const since = current ? now - current.start_ns : 0;
  const phase = !current ? "idle" : since < current.seek_ns ? "seek" : since < current.seek_ns + current.rotation_ns ? "rotation" : "transfer";
  return { cylinder, current, waiting, phase };
}

export class ArrayView {
  /** `record(settings, scene)` answers with a recorded scene, or throws an error with `faults`; `changed()` stores the state. */
  constructor(controls, record, changed) {
    Object.assign(this, { controls, record, changed, scene: "load", asked: 0, isShown: false });
    for (const { value, text } of SCENES) {
      const input = element("input", { type: "radio", name: "scene", value, id: `scene-${value}`, checked: value === "load" });
      $("scenes").append(element("label", { htmlFor: input.id }, input, text));
    }
    $("scenes").addEventListener("change", (event) => { this.scene = event.target.value; changed(); this.ask(0); });
    this.player = new Player($("array-player"), (now) => this.#draw(now));
    this.svg = $("array-picture");
    new ResizeObserver(() => { if (this.data) { this.#frame(); this.#draw(this.player.now); } }).observe($("array-box"));
  }
  own() {
    return this.scene === "load" ? [] : [["scene", this.scene]];
  }
  takeText(query) {
    const scene = query.get("scene");
    this.scene = SCENES.some((one) => one.value === scene) ? scene : "load";
    $(`scene-${this.scene}`).checked = true;
    if (this.isShown) this.ask(0);
  }
  shown(isShown) {
    const isNew = isShown && !this.isShown;
    this.isShown = isShown;
    if (isNew) this.ask(0);
    if (!isShown) this.player.stop();
  }
  /** Something was set. */
  ask(after = RELOAD_AFTER_MS) {
    clearTimeout(this.timer);
    document.documentElement.dataset.sceneAsked = ++this.asked;
    if (this.isShown) this.timer = setTimeout(() => this.#run(), after);
  }
  async #run() {
    const asked = this.asked, { scene } = this;
    try {
      const data = await this.record(this.controls.settings, scene);
      if (asked !== this.asked) return;
      this.data = data;
      this.shownScene = scene;
      $("array-faults").replaceChildren();
      $("array-box").hidden = $("array-player").hidden = false;
      $("array-meaning").textContent = MEANINGS[scene];
      this.#begin();
      document.documentElement.dataset.sceneShown = asked;
    } catch (error) {
      if (!error.faults) throw error;
      if (asked !== this.asked) return;
      this.data = null;
      this.player.stop();
      $("array-box").hidden = $("array-player").hidden = true;
      $("array-meaning").textContent = "";
      $("array-facts").replaceChildren();
      $("array-now").textContent = "";
      $("array-brief").textContent = error.faults[0].text;
      $("array-faults").replaceChildren(...error.faults.map((fault) => element("p", {}, fault.text)));
    }
  }
  #begin() {
    const { disks, end_ns: last } = this.data, moves = disks.flatMap((disk) => disk.movements);
    this.#frame();
    this.#facts();
    this.player.begin(last, moves.flatMap((m) => [m.start_ns, m.start_ns + m.seek_ns, m.start_ns + m.seek_ns + m.rotation_ns, end(m)]).filter((at) => at < last));
  }
  /** The parts of the picture that do not move. */
  #frame() {
    const { disks, cache } = this.data, width = Math.max($("array-box").clientWidth, 240);
    this.left = cache ? BUCKET + 18 : 0;
    this.column = (width - this.left) / disks.length;
    const height = TOP + PLATTER + GAP + ROWS * ROW_HEIGHT + 2;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    const parts = [shape("defs", {})];
    const hatch = shape("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    hatch.append(shape("rect", { width: 6, height: 6, class: "hatch-under" }), shape("line", { x1: 0, x2: 0, y1: 0, y2: 6, class: "hatch" }));
    parts[0].append(hatch);
    this.moving = disks.map((disk, i) => {
      const x = this.left + i * this.column, inner = Math.max(this.column - 6, 4);
      const isLost = this.data.failed.includes(i), isSpare = i >= this.data.n_disks;
      parts.push(shape("text", { x: x + this.column / 2, y: 13, "text-anchor": "middle", class: isLost ? "lost" : "" }, isSpare ? "spare" : isLost ? `${i} ✕` : String(i)));
      parts.push(shape("rect", { x: x + 3, y: TOP, width: inner, height: PLATTER, rx: 6, class: `surface${isLost ? " gone" : ""}` }));
      const dots = shape("g", { class: "waiting" }), arm = shape("rect", { x: x + 1, width: inner + 4, height: 5, rx: 2, class: "arm" });
      parts.push(dots, arm);
      const cells = Array.from({ length: ROWS }, (_, row) => {
        const y = TOP + PLATTER + GAP + row * ROW_HEIGHT;
        const box = shape("rect", { x: x + 3, y, width: inner, height: ROW_HEIGHT - 3, rx: 3, class: "cell" });
        const text = shape("text", { x: x + this.column / 2, y: y + ROW_HEIGHT / 2 + 2, "text-anchor": "middle" });
        parts.push(box, text);
        return { box, text };
      });
      if (isLost) arm.setAttribute("visibility", "hidden");
      return { disk, x, inner, dots, arm, cells };
    });
    if (cache) parts.push(...this.#bucket(cache));
    this.svg.replaceChildren(...parts);
  }
  #bucket({ room, high }) {
    const bottom = TOP + PLATTER + GAP + ROWS * ROW_HEIGHT - 3, tall = bottom - TOP, mark = bottom - tall * high / room;
    this.level = shape("rect", { x: 4, width: BUCKET - 8, class: "level" });
    this.bucket = { room, bottom, tall };
    return [shape("text", { x: BUCKET / 2, y: 13, "text-anchor": "middle" }, "cache"), this.level,
      shape("path", { d: `M3 ${TOP}V${bottom}H${BUCKET - 3}V${TOP}`, class: "bucket" }),
      shape("line", { x1: 0, x2: BUCKET, y1: mark, y2: mark, class: "rule" }), shape("text", { x: BUCKET / 2, y: mark - 4, "text-anchor": "middle", class: "mark" }, "destage")];
  }
  #draw(now) {
    if (!this.data || !this.moving) return;
    const { strips, strip_sectors: strip, n_disks: n, rebuild_disk: lost } = this.data, states = this.data.disks.map((disk) => stateAt(disk, now));
    const rebuilt = lost < 0 ? 0 : Math.max(0, ...this.data.disks[n].movements.filter((m) => m.op === 1 && m.n_sectors === strip && end(m) <= now).map((m) => m.lba / strip + 1));
    const first = Math.max(0, Math.min(rebuilt - ROWS / 2, strips[0].length - ROWS)) | 0;
    this.moving.forEach(({ disk, x, inner, dots, arm, cells }, i) => {
      const { cylinder, current, waiting, phase } = states[i], y = (place) => TOP + 3 + (PLATTER - 6) * place;
      arm.setAttribute("y", y(cylinder / disk.n_cylinders) - 2.5);
      arm.setAttribute("class", `arm ${phase}`);
      dots.replaceChildren(...waiting.map((m, k) => shape("circle", { cx: x + 3 + inner * ((k % 4) + 1) / 5, cy: y(m.lba / disk.n_sectors), r: 3, class: m.op ? "write" : "read" })));
      const at = current && current.lba / strip, busy = current ? [Math.floor(at), Math.floor((current.lba + current.n_sectors - 1) / strip)] : null;
      cells.forEach(({ box, text }, shownRow) => {
        const row = first + shownRow, isSpare = i >= n, own = isSpare ? (row < rebuilt ? strips[lost][row] : null) : strips[i][row];
        const kind = own === null || own === undefined ? "free" : own < 0 ? "parity" : row % 2 ? "odd" : "even";
        const isNow = busy && row >= busy[0] && row <= busy[1], isNext = !isNow && waiting.some((m) => Math.floor(m.lba / strip) === row);
        const isGone = this.data.failed.includes(i);
        box.setAttribute("class", `cell ${kind}${isNow ? ` now ${phase}` : isNext ? " next" : ""}${isGone ? " gone" : ""}`);
        const said = this.column >= READABLE ? label(own) : own !== null && own < 0 ? label(own) : "";
        if (text.textContent !== said) text.textContent = said;
      });
    });
    if (this.data.cache) {
      const found = this.data.levels.findLast(([at]) => at <= now), tall = this.bucket.tall * (found ? found[1] : 0) / this.bucket.room;
      this.level.setAttribute("y", this.bucket.bottom - tall);
      this.level.setAttribute("height", tall);
      this.level.setAttribute("class", found && found[1] >= this.bucket.room ? "level full" : "level");
    }
    this.#say(now, states, rebuilt);
  }
  #say(now, states, rebuilt) {
    const { requests, end_ns: last, cache, levels, rebuild_disk: lost } = this.data;
    const done = requests.issue_ns.filter((at, i) => at + requests.response_ns[i] <= now).length, open = requests.issue_ns.filter((at) => at <= now).length - done;
    const busy = states.filter((one) => one.current).length, waiting = states.reduce((sum, one) => sum + one.waiting.length, 0);
    const found = cache && levels.findLast(([at]) => at <= now);
    const extra = lost >= 0 ? ` · ${counted(rebuilt, "row")} rebuilt` : cache ? ` · cache ${percent((found ? found[1] : 0) / cache.room)} full` : "";
    const working = states.flatMap(({ current, phase }, i) => current ? [`disk ${i}: ${current.op ? "write" : "read"}, ${phase}`] : []);
    $("array-now").textContent = `${done} of ${counted(requests.op.length, "request")} done, ${open} in progress · ${counted(busy, "disk")} busy, ${counted(waiting, "operation")} waiting${extra}`
      + (this.shownScene === "write" ? ` · ${working.join("; ") || (now >= last ? "done" : "the drives’ electronics")}` : "");
  }
  #facts() {
    const { disks, requests, end_ns: last, cache, levels, strips, strip_sectors: strip, n_disks: n } = this.data;
    const count = disks.reduce((sum, disk) => sum + disk.movements.filter((m) => m.submitted_ns <= last).length, 0), n_requests = requests.op.length;
    if (this.shownScene === "write") {
      const steps = disks.flatMap((disk, i) => disk.movements.map((m) => ({ ...m, i }))).sort((a, b) => a.start_ns - b.start_ns || a.i - b.i);
      const ms = (ns) => `${(ns / 1e6).toFixed(2)} ms`;
      $("array-brief").textContent = `${counted(steps.length, "operation")} · ${ms(requests.response_ns[0])}`;
      $("array-facts").replaceChildren(element("p", {}, `${steps.length} operations; the write takes ${ms(requests.response_ns[0])}.`),
        element("ol", {}, ...steps.map((m) => element("li", {}, `disk ${m.i}: ${m.op ? "write" : "read"} ${held(strips[m.i]?.[Math.floor(m.lba / strip)])}, from ${ms(m.start_ns)} to ${ms(end(m))}`
          + ` (seek ${ms(m.seek_ns)}, rotation ${ms(m.rotation_ns)}, transfer ${ms(m.transfer_ns)})`))));
      return;
    }
    const sorted = [...requests.response_ns].sort((a, b) => a - b), mean = sorted.reduce((a, b) => a + b, 0) / n_requests;
    const busyOf = (disk) => disk.movements.reduce((sum, m) => sum + Math.max(Math.min(end(m), last) - m.start_ns, 0), 0) / last;
    $("array-brief").textContent = `mean ${figure(mean / 1e6)} ms · longest ${figure(sorted.at(-1) / 1e6)} ms`;
    const said = [`${n_requests} requests in ${figure(last / 1e6)} ms: mean ${figure(mean / 1e6)} ms, longest ${figure(sorted.at(-1) / 1e6)} ms; ${figure(count / n_requests)} disk operations per request.`];
    if (cache) {
      const full = levels.find(([, blocks]) => blocks >= cache.room);
      said.push(full ? `The cache is full after ${figure(full[0] / 1e6)} ms. Until then a write takes ${figure(sorted[0] / 1e6)} ms; the last takes ${figure(requests.response_ns.at(-1) / 1e6)} ms.` : "The disks keep up: the cache does not become full.");
    }
    said.push(`Busy: ${disks.map((disk, i) => `${i < n ? `disk ${i}` : "spare"} ${percent(busyOf(disk))}`).join(", ")}.`);
    $("array-facts").replaceChildren(...said.map((text) => element("p", {}, text)));
  }
}
