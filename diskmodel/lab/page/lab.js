// The page: tabs, settings stored in the address, and what is updated after a change.
import { Controls, curveControls } from "./controls.js";
import { Curves } from "./curves.js";
import { Head } from "./head.js";
import { PlanView } from "./plan.js";
import { Quiz } from "./quiz.js";

const $ = (id) => document.getElementById(id);

/**
 * Opens the lab. `home` is where it is: {offers, tabs, effort, curve, plan}: the choices of the controls, names of the
 * views, the share of a quick curve's requests to begin with, and functions that answer (`Curves`, `PlanView`).
 */
export function openLab(home) {
  const { offers, tabs } = home;
  // ?only=disks,level: an experiment inside of another page, with these controls and the curves
  const only = new URLSearchParams(location.search).get("only")?.split(",") ?? null;
  document.documentElement.classList.toggle("embedded", only !== null);
  const controls = new Controls($("controls"), offers.defaults, curveControls(offers, only), changed);
  const curves = new Curves(controls, home.curve, home.effort);
  const head = tabs.includes("head") ? new Head(controls, offers) : null, quiz = tabs.includes("quiz") ? new Quiz(open) : null;
  const plan = tabs.includes("plan") ? new PlanView(offers, home.plan, keep, open) : null;

  function changed() {
    keep();
    curves.ask();
    head?.changed();
  }
  const selected = () => tabs.find((name) => $("tab-" + name).ariaSelected === "true");
  /** Store the settings that differ from the defaults in the address. */
  function keep() {
    const tab = selected(), own = [...(tab === tabs[0] ? [] : [["tab", tab]]), ...controls.own(), ...(plan?.controls.own() ?? [])];
    history.replaceState(null, "", own.length ? "#" + new URLSearchParams(own) : location.pathname + location.search);
  }
  function fromAddress() {
    const query = new URLSearchParams(location.hash.slice(1));
    controls.takeText(query);
    plan?.controls.takeText(query);
    select(tabs.includes(query.get("tab")) ? query.get("tab") : tabs[0]);
    curves.ask();
  }
  function select(name, hasFocus = false) {
    for (const one of tabs) {
      const isIt = one === name, tab = $("tab-" + one);
      tab.hidden = false;
      tab.ariaSelected = String(isIt);
      tab.tabIndex = isIt ? 0 : -1;
      $("panel-" + one).hidden = !isIt;
      if (isIt && hasFocus) tab.focus();
    }
    const isAlone = name === "quiz" || name === "plan";
    $("controls").hidden = isAlone;
    $("brief").hidden = name !== "curves";
    document.querySelector(".columns").classList.toggle("alone", name === "quiz");
    document.querySelector(".columns").classList.toggle("whole", name === "plan");
    head?.shown(name === "head");
    if (name === "quiz") quiz.start();
    if (name === "plan") plan.start();
  }
  function open(settings) {
    controls.take(settings);
    select("curves", true);
    changed();
  }
  tabs.forEach((name, i) => {
    $("tab-" + name).onclick = () => { select(name); keep(); };
    $("tab-" + name).onkeydown = (event) => {
      const n = tabs.length, to = { ArrowRight: (i + 1) % n, ArrowLeft: (i + n - 1) % n, Home: 0, End: n - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      select(tabs[to], true);
      keep();
    };
  });
  let first = {};
  $("reset").onclick = () => open(first);
  addEventListener("hashchange", fromAddress);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => curves.draw());
  fromAddress();
  // the controls that are hidden could not be set again
  if (only) first = { ...controls.settings };
}
