// The page: tabs, settings stored in the address, and what is updated after a change.
import { CommitsView } from "./commits.js";
import { Controls, curveControls } from "./controls.js";
import { Curves } from "./curves.js";
import { ArrayView } from "./disks.js";
import { Head } from "./head.js";
import { HeatView } from "./heat.js";
import { PlanView } from "./plan.js";
import { Quiz } from "./quiz.js";

const $ = (id) => document.getElementById(id);

/**
 * Opens the lab. `home` is where it is: {offers, tabs, effort, curve, plan, commits, heat, scene, head, quiz}: the choices of the
 * controls, names of the views, the share of a quick curve's requests to begin with, and functions that answer (`Curves`,
 * `PlanView`, `CommitsView`, `HeatView`, `ArrayView`, `Head`, `Quiz`).
 */
export function openLab(home) {
  const { offers, tabs } = home;
  // ?only=disks,level: an experiment inside of another page, with these controls and the curves
  const only = new URLSearchParams(location.search).get("only")?.split(",") ?? null;
  document.documentElement.classList.toggle("embedded", only !== null);
  const controls = new Controls($("controls"), offers.defaults, curveControls(offers, only), changed);
  const curves = new Curves(controls, home.curve, home.effort, keep);
  const array = new ArrayView(controls, home.scene, keep), head = new Head(controls, offers, home.head, keep);
  const heat = new HeatView(controls, home.heat);
  const quiz = new Quiz(open, home.quiz, keep);
  const plan = tabs.includes("plan") ? new PlanView(offers, home.plan, keep, open, only) : null;
  const commits = new CommitsView(offers, home.commits, keep, only);

  function changed() {
    keep();
    if (selected() === "curves") curves.ask();
    heat.ask();
    array.ask();
    head.changed();
  }
  const selected = () => tabs.find((name) => $("tab-" + name).ariaSelected === "true");
  /** Store the settings that differ from the defaults in the address. */
  function keep() {
    const tab = selected(), views = { curves, array, head, quiz, plan: plan?.controls, commits: commits.controls };
    const own = [...(tab === tabs[0] ? [] : [["tab", tab]]), ...controls.own(), ...Object.values(views).flatMap((view) => view?.own() ?? [])];
    history.replaceState(null, "", own.length ? "#" + new URLSearchParams(own) : location.pathname + location.search);
  }
  function fromAddress() {
    const query = new URLSearchParams(location.hash.slice(1));
    controls.takeText(query);
    for (const view of [plan?.controls, commits.controls, curves, array, head, quiz]) view?.takeText(query);
    heat.ask();
    select(tabs.includes(query.get("tab")) ? query.get("tab") : tabs[0]);
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
    const isAlone = ["quiz", "plan", "commits"].includes(name);
    $("controls").hidden = isAlone;
    $("brief").hidden = name !== "curves";
    $("array-brief").hidden = name !== "array";
    $("faults").hidden = name !== "curves";
    document.querySelector(".columns").classList.toggle("alone", name === "quiz");
    document.querySelector(".columns").classList.toggle("whole", name === "plan" || name === "commits");
    head.shown(name === "head");
    heat.shown(name === "heat");
    array.shown(name === "array");
    if (name === "curves") curves.ask();
    if (name === "quiz") quiz.start();
    if (name === "plan") plan.start();
    if (name === "commits") commits.start();
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
  if (!only) return;
  // the controls that are hidden could not be set again
  first = { ...controls.settings };
  // the page around makes its frame as tall as this
  new ResizeObserver(() => parent.postMessage({ diskmodelHeight: Math.ceil(document.body.getBoundingClientRect().height) }, "*")).observe(document.body);
}
