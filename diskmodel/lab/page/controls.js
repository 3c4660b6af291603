// The controls: their settings, steps and labels.
import { bytes, element, percent } from "./words.js";

const E12 = [1, 1.2, 1.5, 1.8, 2.2, 2.7, 3.3, 3.9, 4.7, 5.6, 6.8, 8.2];
const RATES = [1, 2, 3, 4].flatMap((power) => E12.map((x) => Math.round(x * 10 ** power))).concat(100000);
const steps = (from, to, by) => Array.from({ length: Math.round((to - from) / by) + 1 }, (_, i) => +(from + i * by).toFixed(4));

/** Every control in order: sliders have `values`, lists have `options`. */
function definitions(offers) {
  const level = (s) => offers.levels.find((one) => one.value === s.level);
  return [
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
    { group: "Cache", key: "drive_write_cache", label: "write caches of the drives are on", check: true },
  ];
}

const nearest = (values, value) => values.reduce((best, x, i) => Math.abs(x - value) < Math.abs(values[best] - value) ? i : best, 0);

export class Controls {
  /** Builds the form; `changed(settings)` is called after each change by the user. */
  constructor(form, offers, changed) {
    this.offers = offers;
    this.settings = { ...offers.defaults };
    this.parts = definitions(offers).map((one) => ({ ...one, ...this.#build(one) }));
    for (const group of [...new Set(this.parts.map((part) => part.group))]) {
      form.append(element("fieldset", {}, element("legend", {}, group), ...this.parts.filter((p) => p.group === group).map((p) => p.box)));
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => {
      const part = this.parts.find((one) => one.input === event.target);
      if (!part) return;
      this.settings = { ...this.settings, [part.key]: this.#read(part) };
      this.show();
      changed(this.settings);
    });
    this.show();
  }
  #build({ key, label, options, check }) {
    const id = "set-" + key;
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
    if (part.check) return part.input.checked;
    return part.options ? part.input.value : part.values(this.settings)[Number(part.input.value)];
  }
  /** Takes settings from elsewhere (the address, the quiz); what is not named keeps its default. */
  take(settings) {
    const known = Object.fromEntries(Object.entries(settings).filter(([key]) => key in this.offers.defaults));
    this.settings = { ...this.offers.defaults, ...known };
    this.show();
  }
  /** Brings the form in line with the settings; a number of disks that the level cannot have becomes the nearest it can. */
  show() {
    const level = this.offers.levels.find((one) => one.value === this.settings.level) ?? this.offers.levels[0];
    this.settings.disks = level.disks[nearest(level.disks, this.settings.disks)];
    this.settings.has_failed_disk &&= level.survives;
    for (const part of this.parts) {
      const value = this.settings[part.key];
      part.box.hidden = part.only ? !part.only(this.settings) : false;
      if (part.check) part.input.checked = value;
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
  /** One line that tells these settings from others. */
  describe() {
    const text = (key) => this.parts.find((part) => part.key === key).text(this.settings[key]);
    const level = this.offers.levels.find((one) => one.value === this.settings.level).text.replace(/ \(.*/, "");
    return `${this.settings.disks} × ${this.settings.drive}, ${level === "none" ? "no RAID" : level}, ${text("read_ratio")} reads of ${text("size_bytes")}${this.settings.has_failed_disk ? ", one failed" : ""}`;
  }
}
