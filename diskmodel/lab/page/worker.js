// The thread that simulates. It gets questions, and gives up an older one when a newer one of the same kind comes.
import { Bench, curve } from "./answers.js";
import { heat } from "./cells.js";
import { commits } from "./durable.js";
import { plan } from "./fewest.js";
import { Kernel } from "./kernel.js";
import { revealed } from "./questions.js";
import { headPanels, recordedScene, smallWrite } from "./scenes.js";

class Outdated extends Error {}

/** Bytes of a text in base 64, decompressed. */
export async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}
export const unpackJson = async (text) => JSON.parse(new TextDecoder().decode(await unpack(text)));

/** Lets messages in between two runs. */
const breathe = () => new Promise((resolve) => { const { port1, port2 } = new MessageChannel(); port2.onmessage = resolve; port1.postMessage(0); });

/** Answers messages of a page: {kind: "start", "drive", "curve", "plan", "commits", "heat", "scene", "head", "reveal" or "stop", id, …}; `post` sends the answers. */
export function serve(post) {
  let bench, ready;
  const newest = {};
  const pauseOf = (kind, id) => async () => {
    await breathe();
    if (newest[kind] !== id) throw new Outdated();
  };
  const answers = {
    start: async ({ kernel, levels }) => {
      ready = unpack(kernel).then(async (bytes) => { bench = new Bench(await Kernel.from(bytes), levels); });
      await ready;
    },
    drive: async ({ tables }) => {
      const drive = await unpackJson(tables);
      await ready;
      if (!bench.has(drive.value)) bench.add(drive);
    },
    curve: ({ id, settings, stage, effort }) => curve(bench, settings, stage, effort, pauseOf("curve", id)),
    plan: ({ id, question }) => plan(bench, question, pauseOf("plan", id), (found) => post({ id, found })),
    commits: ({ id, settings, about }) => commits(bench, settings, about, pauseOf("commits", id)),
    heat: async ({ settings }) => heat(bench, settings),
    scene: async ({ settings, scene, tables }) => recordedScene(bench, settings, scene, tables),
    head: async ({ settings, schedulers, n }) => schedulers ? { panels: headPanels(bench, settings, schedulers, n), story: null } : smallWrite(bench, settings),
    reveal: async ({ asked, choice }) => revealed(bench, asked, choice),
    stop: async ({ of }) => { newest[of] = null; },
  };
  return async (message) => {
    const { kind, id } = message;
    newest[kind] = id;
    try {
      post({ id, answer: await answers[kind](message) });
    } catch (error) {
      post({ id, isOutdated: error instanceof Outdated, error: error instanceof Outdated ? null : String(error.message ?? error) });
    }
  };
}

/** Begins to answer where this is a worker's thread. */
export function begin() {
  const answer = serve((message) => postMessage(message));
  onmessage = (event) => answer(event.data);
}
