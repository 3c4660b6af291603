// The lab as plain files, on the site or opened from disk: the kernel runs in a thread of this page.
import { openLab } from "./lab.js";

/** A phone takes three times as long as the machines that the budget of a quick curve was chosen on. */
const FIRST_EFFORT = 0.4;
const refused = (text) => Object.assign(new Error(text), { faults: [{ text }] });
const outdated = () => Object.assign(new Error("outdated"), { name: "AbortError" });

/** A worker's thread that answers messages; made from text, because pages from disk may not load a worker from a file. */
class Thread {
  constructor(text) {
    this.worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    Object.assign(this, { last: 0, waiting: new Map() });
    this.worker.onmessage = ({ data }) => this.#answered(data);
    this.worker.onerror = (event) => this.waiting.forEach(({ reject }) => reject(refused(`The simulation failed: ${event.message}`)));
  }
  ask(message, { report = () => {}, signal = null } = {}) {
    const id = ++this.last;
    signal?.addEventListener("abort", () => this.worker.postMessage({ kind: "stop", of: message.kind, id: ++this.last }));
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, report });
      this.worker.postMessage({ ...message, id });
    });
  }
  #answered({ id, answer, found, error, isOutdated }) {
    const asked = this.waiting.get(id);
    if (!asked) return;
    if (found) { asked.report(found); return; }
    this.waiting.delete(id);
    if (isOutdated) asked.reject(outdated());
    else if (error) asked.reject(refused(`These settings cannot be simulated: ${error}`));
    else asked.resolve(answer);
  }
}

/** Loads a script that leaves its data in `diskmodelLab`: pages from disk may not fetch files. */
function load(url) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    Object.assign(script, { src: url, onload: resolve, onerror: () => reject(refused(`${url} is missing.`)) });
    document.head.append(script);
  });
}

/** Opens the lab. `data`: {offers, levels, kernel, worker, drives}, left by the scripts of the page. */
export function openAtSite(data) {
  const curves = new Thread(data.worker), plans = new Thread(data.worker), sent = { curves: {}, plans: {} };
  const threads = { curves, plans }, isStarted = {};
  const prepared = async (name, drives) => {
    const thread = threads[name];
    isStarted[name] ??= thread.ask({ kind: "start", kernel: data.kernel, levels: data.levels });
    await isStarted[name];
    for (const drive of drives) {
      if (!data.offers.drives.some((one) => one.value === drive)) throw refused(`There is no drive ${drive} here; choose another.`);
      sent[name][drive] ??= (async () => {
        if (!data.drives[drive]) await load(`drives/${drive}.js`);
        await thread.ask({ kind: "drive", tables: data.drives[drive] });
      })();
      await sent[name][drive];
    }
    return thread;
  };
  const curve = async (settings, stage, effort, signal) => {
    const fault = faultOf(settings, data);
    if (fault) throw refused(fault);
    return (await prepared("curves", [settings.drive])).ask({ kind: "curve", settings, stage, effort }, { signal });
  };
  const plan = async (question, report, signal) => (await prepared("plans", question.drives)).ask({ kind: "plan", question }, { report, signal });
  openLab({ offers: data.offers, tabs: ["curves", "plan"], effort: FIRST_EFFORT, curve, plan });
}

/** What is wrong with settings, which may come from an address; null where nothing is. */
export function faultOf(settings, { offers, levels }) {
  const within = (key, low, high) => settings[key] >= low && settings[key] <= high ? null : `${key}=${settings[key]}: must be ${low} to ${high}`;
  if (!(settings.level in levels)) return `There is no level ${settings.level} here; choose another.`;
  if (!offers.patterns.some((one) => one.value === settings.pattern)) return `The addresses ${settings.pattern} are only in \`diskmodel lab\`.`;
  if (!offers.schedulers.some((one) => one.value === settings.scheduler)) return `There is no scheduler ${settings.scheduler} here.`;
  if (settings.size_bytes % 512 || settings.strip_bytes % 512) return "Sizes must be multiples of 512 bytes.";
  return within("read_ratio", 0, 1) ?? within("size_bytes", 512, 4 << 20) ?? within("strip_bytes", 512, 16 << 20) ?? within("span_ratio", 0.001, 1)
    ?? within("outstanding", 1, 512) ?? within("rate_per_s", 1, 1e6) ?? within("read_hit_ratio", 0, 0.99);
}
