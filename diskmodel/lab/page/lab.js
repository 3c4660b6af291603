// The page: tabs, settings stored in the address, and what is updated after a change.
import { Controls } from "./controls.js";
import { Curves } from "./curves.js";
import { Head } from "./head.js";
import { Quiz } from "./quiz.js";

const TABS = ["curves", "head", "quiz"];
const $ = (id) => document.getElementById(id);

const offers = await (await fetch("/offers")).json();
const controls = new Controls($("controls"), offers, changed);
const curves = new Curves(controls), head = new Head(controls), quiz = new Quiz(open);

function changed() {
  keep();
  curves.ask();
  head.changed();
}
/** Store the settings that differ from the defaults in the address. */
function keep() {
  const own = Object.entries(controls.settings).filter(([key, value]) => value !== offers.defaults[key]);
  const tab = TABS.find((name) => $("tab-" + name).ariaSelected === "true");
  const query = new URLSearchParams([...(tab === "curves" ? [] : [["tab", tab]]), ...own]);
  history.replaceState(null, "", own.length || tab !== "curves" ? "#" + query : location.pathname + location.search);
}
function fromAddress() {
  const query = new URLSearchParams(location.hash.slice(1));
  const typed = [...query].map(([key, text]) => {
    const like = offers.defaults[key];
    return [key, typeof like === "number" ? Number(text) : typeof like === "boolean" ? text === "true" : text];
  });
  controls.take(Object.fromEntries(typed));
  select(TABS.includes(query.get("tab")) ? query.get("tab") : "curves");
  curves.ask();
}
function select(name, hasFocus = false) {
  for (const one of TABS) {
    const isIt = one === name, tab = $("tab-" + one);
    tab.ariaSelected = String(isIt);
    tab.tabIndex = isIt ? 0 : -1;
    $("panel-" + one).hidden = !isIt;
    if (isIt && hasFocus) tab.focus();
  }
  $("controls").hidden = name === "quiz";
  $("brief").hidden = name !== "curves";
  document.querySelector(".columns").classList.toggle("alone", name === "quiz");
  head.shown(name === "head");
  if (name === "quiz") quiz.start();
}
function open(settings) {
  controls.take(settings);
  select("curves", true);
  changed();
}
TABS.forEach((name, i) => {
  $("tab-" + name).onclick = () => { select(name); keep(); };
  $("tab-" + name).onkeydown = (event) => {
    const to = { ArrowRight: (i + 1) % 3, ArrowLeft: (i + 2) % 3, Home: 0, End: 2 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    select(TABS[to], true);
    keep();
  };
});
$("reset").onclick = () => open({});
addEventListener("hashchange", fromAddress);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => curves.draw());
fromAddress();
