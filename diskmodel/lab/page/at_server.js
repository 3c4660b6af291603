// The lab of `diskmodel lab`: a server on this machine simulates.
import { openLab } from "./lab.js";

async function curve(settings, stage, effort, signal) {
  const body = JSON.stringify(settings);
  let answer;
  try {
    answer = await fetch(`/curve?stage=${stage}&effort=${effort}`, { method: "POST", body, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw refused([{ text: "The lab does not respond: has it stopped? Start it again with `diskmodel lab`." }]);
  }
  const data = await answer.json().catch(() => ({ faults: [{ text: `The lab failed (status ${answer.status}).` }] }));
  if (!answer.ok) throw refused(data.faults);
  return data;
}
/** Sends plain data, and returns the answer, or throws an error with `faults`. */
async function send(path, data) {
  const answer = await fetch(path, data ? { method: "POST", body: JSON.stringify(data) } : undefined).catch(() => null);
  const said = await answer?.json().catch(() => null);
  if (answer?.ok && said) return said;
  throw refused(said?.faults ?? [{ text: "The lab does not respond: has it stopped? Start it again with `diskmodel lab`." }]);
}
const commits = (settings) => send("/commits", settings);
const heat = (settings) => send("/heat-map", settings);
const scene = (settings, name) => send("/scene", { settings, scene: name });
async function head({ settings, show, schedulers, n }) {
  const query = new URLSearchParams({ show, settings: JSON.stringify(settings) });
  if (show === "schedulers") {
    query.set("schedulers", schedulers.join(","));
    query.set("requests", n);
  }
  const url = `/moving-head?${query}`;
  return { url, save: `${url}&save=1` };
}
const quiz = {
  question: (number, seed) => send(`/quiz/${number}?seed=${seed}`),
  reveal: (number, seed, choice) => send(`/quiz/${number}`, { seed, choice }),
};
const refused = (faults) => Object.assign(new Error("refused"), { faults });

const offers = await (await fetch("/offers")).json();
openLab({ offers, tabs: ["curves", "commits", "heat", "array", "head", "quiz"], effort: 1, curve, commits, heat, scene, head, quiz });
