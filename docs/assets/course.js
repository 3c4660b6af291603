// Predictions and exercises of the course: kept in this browser, checked in the page.
(() => {
  "use strict";
  const PREFIX = "diskmodel-course-", memory = {};
  const keep = (key, value) => { memory[key] = value; try { localStorage.setItem(PREFIX + key, value); } catch { /* pages may be forbidden to store */ } };
  const kept = (key) => { try { return localStorage.getItem(PREFIX + key) ?? memory[key]; } catch { return memory[key]; } };
  const said = (x) => Number(Number(x).toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 4 });

  /** How far a prediction is from the answer, in words. */
  function compared(guess, answer) {
    if (guess <= 0 || answer <= 0) return guess === answer ? "exactly right" : `off by ${said(Math.abs(guess - answer))}`;
    const ratio = guess / answer;
    if (ratio > 0.95 && ratio < 1.05) return "as good as exact";
    return ratio > 1 ? `${said(Number(ratio.toPrecision(2)))} times too many` : `too few by a factor of ${said(Number((1 / ratio).toPrecision(2)))}`;
  }
  function showPrediction(form) {
    const { id, answer, unit } = form.dataset, guess = kept(`predict-${id}`), compare = document.querySelector(`.ask-compare[data-for="${CSS.escape(id)}"]`);
    const isKept = guess !== undefined && guess !== null;
    if (isKept) form.querySelector("input").value = guess;
    form.querySelector(".ask-said").textContent = isKept ? `Kept: ${said(guess)} ${unit}. Read on; it is compared below.` : "";
    if (compare) compare.textContent = isKept ? `You predicted ${said(guess)}, the model says ${said(answer)} ${unit}: ${compared(Number(guess), Number(answer))}.` : "";
  }
  function check(form) {
    const { id, answer, within, unit, hint } = form.dataset, given = form.querySelector("input").value, out = form.querySelector(".ask-said");
    // half a unit of the last digit that is shown, so that a rounded answer is right, too
    const digits = (answer.split(".")[1] ?? "").length, isRight = Math.abs(given - answer) <= Math.max(within * Math.abs(answer), 0.5000001 * 10 ** -digits);
    keep(`exercise-${id}`, given);
    if (isRight) keep(`solved-${id}`, "yes");
    out.className = `ask-said ${isRight ? "right" : "wrong"}`;
    out.textContent = isRight ? `Right: the model says ${said(answer)} ${unit}.` : `Not yet. ${hint}`;
  }
  function begin() {
    for (const form of document.querySelectorAll("form.ask")) {
      const isPrediction = form.dataset.kind === "predict";
      if (isPrediction) showPrediction(form);
      else if (kept(`solved-${form.dataset.id}`)) { form.querySelector("input").value = kept(`exercise-${form.dataset.id}`) ?? ""; form.querySelector(".ask-said").textContent = "You have solved this one."; }
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        if (!isPrediction) { check(form); return; }
        keep(`predict-${form.dataset.id}`, form.querySelector("input").value);
        showPrediction(form);
      });
    }
    for (const place of document.querySelectorAll(".ask-progress")) {
      const links = [...document.querySelectorAll("article a[href]")].filter((a) => kept(`solved-${a.getAttribute("href").replace(/.*\/|\.html.*/g, "")}`));
      const done = new Set(links.map((a) => a.getAttribute("href").replace(/.*\/|\.html.*/g, ""))).size;
      for (const a of links) if (!a.classList.contains("solved")) a.classList.add("solved");
      place.textContent = `${done} of ${place.dataset.total} exercises solved in this browser.`;
    }
  }
  // tables that scroll can be scrolled by the keyboard, too
  addEventListener("load", () => {
    for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) Object.assign(table, { tabIndex: 0, role: "region", ariaLabel: "Table" });
  });
  // a live experiment says how tall it is
  addEventListener("message", ({ source, data }) => {
    const frame = [...document.querySelectorAll("iframe.live-lab")].find((one) => one.contentWindow === source), tall = Number(data?.diskmodelHeight);
    if (frame && tall > 100 && tall < 10_000) frame.style.height = `${tall + 4}px`;
  });
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin); else begin();
})();
