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
const refused = (faults) => Object.assign(new Error("refused"), { faults });

const offers = await (await fetch("/offers")).json();
openLab({ offers, tabs: ["curves", "head", "quiz"], effort: 1, curve });
