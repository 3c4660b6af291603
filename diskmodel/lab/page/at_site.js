// The lab as plain files, on the site or opened from disk: the kernel runs in a thread of this page.
import { openLab } from "./lab.js";
import { asked } from "./questions.js";

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
  const commits = async (settings, signal) => {
    const about = data.offers.commits;
    return (await prepared("plans", [settings.drive, about.log_device])).ask({ kind: "commits", settings, about }, { signal });
  };
  const heat = async (settings) => {
    const fault = faultOf(settings, data);
    if (fault) throw refused(fault);
    return (await prepared("curves", [settings.drive])).ask({ kind: "heat", settings });
  };
  const recorder = async (settings, scene) => {
    const fault = faultOf(settings, data) ?? sceneFault(settings, scene, data);
    if (fault) throw refused(fault);
    return prepared("curves", [settings.drive]);
  };
  const scene = async (settings, name) => (await recorder(settings, name)).ask({ kind: "scene", settings, scene: name, tables: data.scenes });
  const head = async ({ settings, show, schedulers, n }) => {
    const thread = await recorder(settings, null), isPair = show === "schedulers";
    const found = await thread.ask({ kind: "head", settings, schedulers: isPair ? schedulers : null, n });
    return { html: headPage(data, settings, isPair, n, found) };
  };
  const quiz = {
    question: async (number, seed) => ({ number, seed, ...asked(data.quiz, number, seed) }),
    reveal: async (number, seed, choice) => {
      const one = asked(data.quiz, number, seed);
      return (await prepared("plans", one.settings.map((settings) => settings.drive))).ask({ kind: "reveal", asked: one, choice });
    },
  };
  openLab({ offers: data.offers, tabs: ["curves", "plan", "commits", "heat", "array", "head", "quiz"], effort: FIRST_EFFORT, curve, plan, commits, heat, scene, head, quiz });
}

/** Why a scene cannot be shown (`scenes.recorded_scene`); null where it can. `scene` is null for the moving head. */
export function sceneFault(settings, scene, { offers, scenes }) {
  const drive = offers.drives.find((one) => one.value === settings.drive), level = offers.levels.find((one) => one.value === settings.level);
  if (!drive.has_one_arm) return `${drive.text} has no single arm to show: choose a hard disk with one actuator.`;
  if (scene === null) return null;
  if (settings.disks > scenes.max_disks) return `disks=${settings.disks}: ${scenes.max_disks} disks can be shown; use fewer.`;
  if ((scene === "failed" || scene === "rebuild") && !level.survives) return `${level.text} loses its data with a disk: choose another level.`;
  return null;
}

/** The page of the moving head with a recorded run in it. */
function headPage({ head, offers }, settings, isPair, n, found) {
  const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;"), drive = offers.drives.find((one) => one.value === settings.drive).text;
  const one = settings.disks > 1 ? `disk ${found.panels[0].disk} of ${settings.disks}` : "one disk";
  const contents = {
    title: isPair ? "The moving head" : "One small write in RAID 5",
    subtitle: isPair ? `${drive}, ${one}, ${n} requests.` : `${drive}, idle; one write of 4 KiB.`,
    note: isPair ? "The same requests under each scheduler. Dots are waiting requests, drawn at the position of their data."
      : "The array reads old data and old parity, then writes both. By then the sectors have just passed the heads, so each platter needs nearly another revolution.",
  };
  return head.replace(/@(title|subtitle|note|data)@/g, (_, name) => name === "data" ? JSON.stringify(found).replaceAll("<", "\\u003c") : escaped(contents[name]));
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
