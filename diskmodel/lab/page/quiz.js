// Predict, then see.
import { element, figure } from "./words.js";

const $ = (id) => document.getElementById(id);

export class Quiz {
  /** `open(settings)` shows settings in the lab. */
  constructor(open) {
    this.seed = Number(new URLSearchParams(location.search).get("seed") ?? Math.floor(Math.random() * 1e6));
    this.number = 0;
    this.asked = 0;
    this.right = 0;
    $("quiz").addEventListener("change", () => { $("quiz-see").disabled = this.revealed; });
    $("quiz").addEventListener("submit", (event) => { event.preventDefault(); this.#see(); });
    $("quiz-next").onclick = () => { this.number++; this.#ask(true); };
    $("quiz-open").onclick = () => open(this.settings);
  }
  start() {
    if (!this.question) this.#ask(false);
  }
  async #ask(hasFocus) {
    this.question = await (await fetch(`/quiz/${this.number}?seed=${this.seed}`)).json();
    this.revealed = false;
    $("quiz-number").textContent = `Question ${this.number + 1}`;
    $("quiz-setting").textContent = this.question.setting;
    $("quiz-question").textContent = this.question.question;
    $("quiz-choices").replaceChildren(...this.question.choices.map((text, i) =>
      element("label", { className: "choice" }, element("input", { type: "radio", name: "choice", value: i }), text)));
    $("quiz-answer").replaceChildren();
    $("quiz-see").disabled = true;
    $("quiz-see").hidden = false;
    $("quiz-open").hidden = true;
    $("quiz-next").textContent = "Skip";
    if (hasFocus) document.querySelector("input[name=choice]").focus();
  }
  async #see() {
    const chosen = document.querySelector("input[name=choice]:checked");
    if (!chosen || this.revealed) return;
    this.revealed = true;
    $("quiz-see").disabled = true;
    $("quiz-answer").replaceChildren("Simulating …");
    const choice = Number(chosen.value);
    const answer = await fetch(`/quiz/${this.number}`, { method: "POST", body: JSON.stringify({ seed: this.seed, choice }) });
    const result = await answer.json();
    if (!answer.ok) { $("quiz-answer").replaceChildren(result.faults.map((f) => f.text).join(" ")); return; }
    this.#show(result, choice);
  }
  #show(result, choice) {
    this.settings = result.settings;
    this.asked++;
    if (result.is_right) this.right++;
    const labels = document.querySelectorAll(".choice");
    result.right.forEach((i) => labels[i].classList.add("right"));
    if (!result.is_right) labels[choice].classList.add("wrong");
    const ends = ({ low, high }) => figure(low) === figure(high) ? "" : ` (${figure(low)} to ${figure(high)})`;
    const times = result.unit === "times" ? "× " : "";
    const close = result.right.length > 1 ? " The interval overlaps more than one choice; each of them counts as right." : "";
    $("quiz-answer").replaceChildren(
      element("p", {}, element("strong", { className: result.is_right ? "yes" : "no" }, result.is_right ? "Right. " : "Wrong. "),
        `The model says ${times}${figure(result.answer.value)}${ends(result.answer)}${result.unit === "times" ? "" : " " + result.unit}.${close}`),
      element("ul", {}, ...result.runs.map((run) => element("li", {}, `${run.name}: ${figure(run.value)}${ends(run)} ${run.figure}`))),
      element("p", {}, result.why));
    $("quiz-score").textContent = `${this.right} of ${this.asked} right`;
    for (const input of document.querySelectorAll("input[name=choice]")) input.disabled = true;
    $("quiz-see").hidden = true;
    $("quiz-open").hidden = false;
    $("quiz-next").textContent = "Next question";
    $("quiz-next").focus();
  }
}
