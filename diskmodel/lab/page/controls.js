// The controls: their settings, steps and labels.
import { bytes, element, percent } from "./words.js";

const E12 = [1, 1.2, 1.5, 1.8, 2.2, 2.7, 3.3, 3.9, 4.7, 5.6, 6.8, 8.2];
const RATES = [1, 2, 3, 4].flatMap((power) => E12.map((x) => Math.round(x * 10 ** power))).concat(100000);
const steps = (from, to, by) => Array.from({ length: Math.round((to - from) / by) + 1 }, (_, i) => +(from + i * by).toFixed(4));

/**
 * Controls of an array and its workload, in order: sliders have `values`, lists `options`, sets of boxes `several`. Those
 * that are not in `shown`, where it is given, keep their settings and are hidden.
 */
export function curveControls(offers, shown = null) {
  const level = (s) => offers.levels.find((one) => one.value === s.level) ?? offers.levels[0];
  const parts = [
    { group: "Workload", key: "read_ratio", label: "reads", values: () => steps(0, 1, 0.05), text: percent },
    { group: "Workload", key: "size_bytes", label: "request size", values: () => offers.size_bytes, text: bytes },
    { group: "Workload", key: "pattern", label: "addresses", options: offers.patterns },
    { group: "Workload", key: "span_ratio", label: "part of the array used", values: () => [0.01, 0.02, 0.05, ...steps(0.1, 1, 0.1)], text: percent },
    { group: "Workload", key: "arrivals", label: "arrivals", options: [
      { value: "outstanding", text: "closed: a new request when one completes" },
      { value: "rate", text: "open: at random, at a given rate" }] },
    { group: "Workload", key: "outstanding", label: "load: outstanding", values: () => offers.outstanding, text: String, only: (s) => s.arrivals === "outstanding" },
    { group: "Workload", key: "rate_per_s", label: "load: per second", values: () => RATES, text: (x) => x.toLocaleString("en"), only: (s) => s.arrivals === "rate" },
    { group: "Array", key: "drive", label: "drive", options: offers.drives },
    { group: "Array", key: "level", label: "RAID level", options: offers.levels },
    { group: "Array", key: "disks", label: "disks", values: (s) => level(s).disks, text: String },
    { group: "Array", key: "strip_bytes", label: "strip size", values: () => offers.strip_bytes, text: bytes },
    { group: "Array", key: "has_failed_disk", label: "one disk has failed", check: true, only: (s) => level(s).survives },
    { group: "Array", key: "scheduler", label: "scheduler", options: offers.schedulers },
    { group: "Cache", key: "read_hit_ratio", label: "read hits in the controller's cache", values: () => steps(0, 0.95, 0.05), text: percent },
    { group: "Cache", key: "write_cache_bytes", label: "controller's write-back cache", values: () => offers.write_cache_bytes, text: (n) => n ? bytes(n) : "none" },
    { group: "Cache", key: "drive_write_cache", label: "write caches of the drives", options: [
      { value: "sold", text: "as drives are sold: SATA on, SAS off" }, { value: "on", text: "on" }, { value: "off", text: "off" }] },
  ];
  // a number of disks that the level cannot have becomes the nearest it can
  const settle = (s) => {
    s.disks = level(s).disks[nearest(level(s).disks, s.disks)];
    s.has_failed_disk &&= level(s).survives;
  };
  const describe = (s, text) => {
    const name = level(s).text.replace(/ \(.*/, "");
    return `${s.disks} × ${s.drive}, ${name === "none" ? "no RAID" : name}, ${text("read_ratio")} reads of ${text("size_bytes")}${s.has_failed_disk ? ", one failed" : ""}`;
  };
  return { parts: parts.filter((part) => !offers.without?.includes(part.key)), settle, describe, shown };
}

const ASKED = [10, 100, 1000, 10000].flatMap((power) => [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8].map((x) => Math.round(x * power))).filter((rate) => rate >= 50).concat(100_000);
const CAPACITIES = [0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200];
const LIMITS_MS = [1, 2, 3, 5, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500];

/** Controls of the question how many disks are needed. Their keys differ from those of an array: both are in the address. */
export function planControls(offers, shown = null) {
  const parts = [
    { group: "Workload", key: "need_iops", label: "requests per second", values: () => ASKED, text: (x) => x.toLocaleString("en") },
    { group: "Workload", key: "need_reads", label: "reads", values: () => steps(0, 1, 0.05), text: percent },
    { group: "Workload", key: "need_size", label: "request size", values: () => offers.size_bytes.filter((n) => n >= 4096 && n <= 1 << 20), text: bytes },
    { group: "Objective", key: "need_tb", label: "data to store, disks 80 % full", values: () => CAPACITIES, text: (x) => `${x} TB` },
    { group: "Objective", key: "need_p99", label: "p99 latency at most", values: () => LIMITS_MS, text: (x) => `${x} ms` },
    { group: "Drives", key: "need_drives", several: offers.drives },
    { group: "RAID levels", key: "need_levels", several: offers.levels.filter((one) => ["raid1", "raid10", "raid5", "raid6"].includes(one.value)) },
  ];
  const defaults = { need_iops: 500, need_reads: 0.7, need_size: 8192, need_tb: 2, need_p99: 80, need_drives: "seagate-exos-x20,seagate-exos-10e2400-2400,samsung-pm9a3-7680", need_levels: "raid10,raid5,raid6" };
  return { parts, defaults, shown };
}

/** Controls of the question what a commit costs, whose keys are not those of an array either. */
export function commitsControls(offers, shown = null) {
  const { defaults, clients, work_ms: work, load_ratio: loads } = offers.commits;
  const parts = [
    { group: "Database", key: "log_clients", label: "clients", values: () => clients, text: String },
    { group: "Database", key: "log_work", label: "work before a commit", values: () => work, text: (x) => `${x} ms` },
    { group: "Disk", key: "log_drive", label: "drive", options: offers.drives.filter((one) => one.has_one_arm) },
    { group: "Disk", key: "log_load", label: "random reads beside", values: () => loads, text: (x) => x ? `${percent(x)} of its rate` : "none" },
  ];
  return { parts, defaults: { log_clients: defaults.clients, log_work: defaults.work_ms, log_drive: defaults.drive, log_load: defaults.load_ratio }, shown };
}

const nearest = (values, value) => values.reduce((best, x, i) => Math.abs(x - value) < Math.abs(values[best] - value) ? i : best, 0);

export class Controls {
  /** Builds the form; `changed(settings)` is called after each change by the user. */
  constructor(form, defaults, { parts, settle = () => {}, describe = () => "", shown = null }, changed) {
    Object.assign(this, { defaults, settle, shown, settings: { ...defaults } });
    this.parts = parts.map((one) => ({ ...one, ...this.#build(one) }));
    this.describe = (settings = this.settings) => describe(settings, (key) => this.parts.find((part) => part.key === key).text(settings[key]));
    for (const group of [...new Set(this.parts.map((part) => part.group))]) {
      form.append(element("fieldset", {}, element("legend", {}, group), ...this.parts.filter((p) => p.group === group).map((p) => p.box)));
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => {
      const part = this.parts.find((one) => one.input === event.target || one.boxes?.includes(event.target));
      if (!part) return;
      this.settings = { ...this.settings, [part.key]: this.#read(part) };
      this.show();
      changed(this.settings);
    });
    this.show();
  }
  #build({ key, label, options, check, several }) {
    const id = "set-" + key;
    if (several) {
      const boxes = several.map((o) => element("input", { type: "checkbox", value: o.value, id: `${id}-${o.value}` }));
      const labels = several.map((o, i) => element("label", { htmlFor: boxes[i].id }, boxes[i], o.text));
      return { boxes, box: element("div", { className: "control several" }, ...labels) };
    }
    if (check) {
      const input = element("input", { type: "checkbox", id });
      return { input, box: element("div", { className: "control row" }, element("label", { htmlFor: id }, input, label)) };
    }
    const output = element("output", {});
    if (options) {
      const input = element("select", { id });
      const groups = [...new Set(options.map((o) => o.group))];
      for (const group of groups) {
        const made = options.filter((o) => o.group === group).map((o) => element("option", { value: o.value }, o.text));
        input.append(...(group ? [((g) => { g.append(...made); return g; })(element("optgroup", { label: group }))] : made));
      }
      return { input, box: element("div", { className: "control" }, element("label", { htmlFor: id }, label), input) };
    }
    const input = element("input", { type: "range", id, min: 0, step: 1 });
    output.setAttribute("for", id);
    return { input, output, box: element("div", { className: "control" }, element("label", { htmlFor: id }, label, output), input) };
  }
  #read(part) {
    if (part.several) return part.boxes.filter((box) => box.checked).map((box) => box.value).join(",");
    if (part.check) return part.input.checked;
    return part.options ? part.input.value : part.values(this.settings)[Number(part.input.value)];
  }
  /** Takes settings from elsewhere (the quiz, a plan); what is not named gets its default. */
  take(settings) {
    this.settings = this.#whole(settings);
    this.show();
  }
  #whole(settings) {
    const known = Object.fromEntries(Object.entries(settings).filter(([key]) => key in this.defaults));
    return { ...this.defaults, ...known };
  }
  /** Takes settings from the text of an address. */
  takeText(query) {
    this.take(this.parsed(query));
  }
  /** The settings that the text of an address stands for. */
  parsed(query) {
    const typed = [...query].map(([key, text]) => {
      const like = this.defaults[key];
      return [key, typeof like === "number" ? Number(text) : typeof like === "boolean" ? text === "true" : text];
    });
    return this.#whole(Object.fromEntries(typed.filter(([, value]) => !Number.isNaN(value))));
  }
  /** Settings that differ from the defaults, for the address. */
  own() {
    return Object.entries(this.settings).filter(([key, value]) => value !== this.defaults[key]);
  }
  /** Brings the form in line with the settings. */
  show() {
    this.settle(this.settings);
    for (const part of this.parts) {
      const value = this.settings[part.key];
      part.box.hidden = (part.only && !part.only(this.settings)) || (this.shown && !this.shown.includes(part.key)) || false;
      if (part.several) part.boxes.forEach((box) => { box.checked = value.split(",").includes(box.value); });
      else if (part.check) part.input.checked = value;
      else if (part.options) part.input.value = value;
      else {
        const values = part.values(this.settings);
        part.input.max = values.length - 1;
        part.input.value = nearest(values, value);
        part.output.textContent = part.text(value);
        part.input.setAttribute("aria-valuetext", part.text(value));
      }
    }
  }
}
