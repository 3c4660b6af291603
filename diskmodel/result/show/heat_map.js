// A heat map of response times over time, and their distribution: a marked part shows where the time of its requests went.

const LEFT = 58, BOTTOM = 34, TOP = 6, RIGHT = 4;
/** Width of the distribution beside the map, and the gap before it, pixels. */
const SIDE = 56, GAP = 8;
/** Whole revolutions that are marked. */
const REVOLUTIONS = 4;
// viridis, at equal steps
const SCALE = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];

const short = (x) => x >= 1000 ? Math.round(x).toLocaleString("en") : String(Number(x.toPrecision(3)));

function colorOfShare(share) {
  const at = Math.min(Math.max(share, 0), 0.9999) * (SCALE.length - 1), low = Math.floor(at);
  const mixed = SCALE[low].map((from, i) => Math.round(from + (SCALE[low + 1][i] - from) * (at - low)));
  return `rgb(${mixed.join(",")})`;
}

function ticksOfLatency(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1)
    for (const digit of [1, 2, 5]) {
      const at = digit * 10 ** power;
      if (at >= low && at <= high) found.push(at);
    }
  return found;
}

/**
 * Shows a heat map (`HeatMap.to_dict` of Python) in a box. `names`: what each part of a response is called; `colorOf(part)`:
 * its color; `title`: what the map is of.
 */
export function showHeatMap(box, map, { names, colorOf, title }) {
  box.classList.add("heat-map");
  box.innerHTML = '<canvas></canvas><div class="heat-side"><div class="heat-bands"></div><div class="heat-where" aria-live="polite"></div></div>';
  const [canvas, bands, where] = ["canvas", ".heat-bands", ".heat-where"].map((name) => box.querySelector(name));
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Heat map of response times: ${title}`);
  const times = map.counts.length, rows = map.latency_ms.length - 1;
  const end = map.start_s[times], low = map.latency_ms[0], high = map.latency_ms[rows];
  const most = Math.max(...map.counts.map((column) => Math.max(...column)), 2);
  const turns = map.revolution_ms ? Array.from({ length: REVOLUTIONS }, (_, n) => (n + 1) * map.revolution_ms).filter((at) => at > low && at < high) : [];
  // what is marked, seconds and milliseconds; null: nothing
  let mark = null, start = null;

  const width = () => canvas.clientWidth - LEFT - RIGHT - SIDE - GAP, height = () => canvas.clientHeight - TOP - BOTTOM;
  const x = (seconds) => LEFT + seconds / end * width();
  const y = (ms) => TOP + (1 - Math.log(ms / low) / Math.log(high / low)) * height();
  const middle = (edges, i, isLog) => isLog ? Math.sqrt(edges[i] * edges[i + 1]) : (edges[i] + edges[i + 1]) / 2;
  const within = (i, j) => {
    const at = middle(map.start_s, i, false), ms = middle(map.latency_ms, j, true);
    return !mark || (at >= mark.from && at <= mark.to && ms >= mark.low && ms <= mark.high);
  };

  function draw() {
    const ratio = window.devicePixelRatio || 1, pen = canvas.getContext("2d");
    if (!canvas.clientWidth) return;
    canvas.width = canvas.clientWidth * ratio;
    canvas.height = canvas.clientHeight * ratio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(box), line = style.getPropertyValue("--line") || "#999";
    pen.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    for (let i = 0; i < times; i += 1)
      for (let j = 0; j < rows; j += 1)
        if (map.counts[i][j]) {
          pen.fillStyle = colorOfShare(Math.log(map.counts[i][j]) / Math.log(most));
          const [left, top] = [x(map.start_s[i]), y(map.latency_ms[j + 1])];
          pen.fillRect(left, top, x(map.start_s[i + 1]) - left + 0.5, y(map.latency_ms[j]) - top + 0.5);
        }
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = style.color;
    pen.strokeStyle = line;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const ms of ticksOfLatency(low, high)) pen.fillText(ms < 1000 ? `${short(ms)} ms` : `${short(ms / 1000)} s`, LEFT - 6, y(ms));
    pen.textBaseline = "top";
    const below = TOP + height() + 6;
    // a phone has room for three labels
    for (let i = 0; i <= 4; i += width() < 300 ? 2 : 1) {
      pen.textAlign = ["left", "center", "center", "center", "right"][i];
      pen.fillText(`${short(end * i / 4)} s`, x(end * i / 4), below);
    }
    pen.strokeRect(LEFT, TOP, width(), height());
    drawDistribution(pen, style);
    if (turns.length) {
      pen.setLineDash([2, 3]);
      pen.strokeStyle = style.color;
      for (const at of turns) {
        pen.beginPath();
        pen.moveTo(LEFT, y(at));
        pen.lineTo(LEFT + width() + GAP + SIDE, y(at));
        pen.stroke();
      }
      pen.setLineDash([]);
    }
    if (mark) {
      const left = x(Math.max(mark.from, 0)), top = y(Math.min(mark.high, high));
      pen.strokeStyle = style.getPropertyValue("--heat-mark");
      pen.lineWidth = 2;
      pen.strokeRect(left, top, x(Math.min(mark.to, end)) - left, y(Math.max(mark.low, low)) - top);
      pen.lineWidth = 1;
    }
  }

  /** Draws how many requests took how long, beside the map: all of them, and those of the mark. */
  function drawDistribution(pen, style) {
    const left = LEFT + width() + GAP, both = [() => true, within].map((counts) =>
      Array.from({ length: rows }, (_, j) => map.counts.reduce((sum, column, i) => sum + (counts(i, j) ? column[j] : 0), 0)));
    const longest = Math.max(...both[0], 1);
    both.forEach((counted, isMarked) => {
      pen.fillStyle = isMarked ? style.getPropertyValue("--heat-mark") : style.color;
      pen.globalAlpha = isMarked && mark ? 1 : isMarked ? 0 : 0.45;
      counted.forEach((n, j) => {
        // whole pixels: rows that share one would be darker there
        const [top, bottom] = [j + 1, j].map((edge) => Math.round(y(map.latency_ms[edge])));
        if (n) pen.fillRect(left, top, SIDE * n / longest, bottom - top);
      });
    });
    pen.globalAlpha = 1;
    pen.strokeRect(left, TOP, SIDE, height());
  }

  function explain() {
    const chosen = [];
    for (let i = 0; i < times; i += 1)
      for (let j = 0; j < rows; j += 1) if (map.counts[i][j] && within(i, j)) chosen.push([i, j]);
    const n = chosen.reduce((sum, [i, j]) => sum + map.counts[i][j], 0);
    const spent = Object.entries(map.parts_ms).map(([part, grid]) => [part, chosen.reduce((sum, [i, j]) => sum + grid[i][j], 0)]);
    const total = spent.reduce((sum, [, ms]) => sum + ms, 0);
    where.textContent = "";
    const head = document.createElement("div");
    head.innerHTML = "<b></b> <span></span>";
    head.querySelector("b").textContent = n.toLocaleString("en");
    head.querySelector("span").textContent = n ? `${mark ? "marked requests" : "requests in all"}, ${short(total / n)} ms on average` : "requests are marked";
    where.append(head);
    for (const [part, ms] of spent.sort((a, b) => b[1] - a[1])) {
      if (!n || ms / total < 0.0005) continue;
      const line = document.createElement("div");
      line.className = "heat-bar";
      line.innerHTML = "<span></span><span></span><i></i>";
      line.children[0].textContent = names[part];
      line.children[1].textContent = `${(100 * ms / total).toFixed(ms / total < 0.095 ? 1 : 0)} %`;
      line.children[2].style.width = `${(100 * ms / total).toFixed(1)}%`;
      line.children[2].style.background = colorOf(part);
      where.append(line);
    }
    for (const button of bands.children) button.ariaPressed = String(mark !== null && mark.band === button.value);
  }

  function set(found) {
    mark = found;
    draw();
    explain();
  }

  // bands by keyboard, too: between whole revolutions
  const edges = [0, ...turns, Infinity];
  if (turns.length)
    for (let i = 0; i < edges.length - 1; i += 1) {
      const button = document.createElement("button");
      const [from, to] = [edges[i], edges[i + 1]].map((ms) => Math.round(ms / map.revolution_ms));
      Object.assign(button, { type: "button", value: String(i), ariaPressed: "false" });
      button.textContent = i === 0 ? (to === 1 ? "below 1 revolution" : `below ${to} revolutions`) : to === Infinity ? `above ${from}` : `${from} to ${to}`;
      button.onclick = () => set(mark?.band === button.value ? null : { from: 0, to: end, low: edges[i], high: edges[i + 1], band: button.value });
      bands.append(button);
    }
  const place = (event) => {
    const frame = canvas.getBoundingClientRect(), down = (event.clientY - frame.top - TOP) / height();
    return [(event.clientX - frame.left - LEFT) / width() * end, low * (high / low) ** (1 - down)];
  };
  canvas.addEventListener("pointerdown", (event) => {
    start = place(event);
    mark = null;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!start) return;
    const [at, ms] = place(event);
    set({ from: Math.min(start[0], at), to: Math.max(start[0], at), low: Math.min(start[1], ms), high: Math.max(start[1], ms) });
  });
  canvas.addEventListener("pointerup", () => {
    start = null;
    const isPoint = mark && ((mark.to - mark.from) / end * width() < 3 || Math.log(mark.high / mark.low) / Math.log(high / low) * height() < 3);
    set(isPoint ? null : mark);
  });
  explain();
  // also when the box is shown for the first time
  new ResizeObserver(draw).observe(canvas);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
