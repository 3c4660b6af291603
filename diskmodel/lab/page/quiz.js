// Predict, then see. Ten questions make a quiz, which ends with a score that can be handed in.
import { element, figure } from "./words.js";

/** Questions of a quiz. */
const LENGTH = 10;
const $ = (id) => document.getElementById(id);
const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

export class Quiz {
  /** `open(settings)` shows settings in the lab; `source` has `question(number, seed)` and `reveal(number, seed, choice)`. */
  constructor(open, source, changed) {
    Object.assign(this, { open, source, changed });
    this.seed = Number(new URLSearchParams(location.search).get("seed") ?? Math.floor(Math.random() * 1e6));
    this.#restart();
    $("quiz").addEventListener("change", () => { $("quiz-see").disabled = this.revealed; });
    $("quiz").addEventListener("submit", (event) => { event.preventDefault(); this.#see(); });
    $("quiz-next").onclick = () => this.#next();
    $("quiz-open").onclick = () => open(this.settings);
  }
  #restart() {
    Object.assign(this, { number: 0, answers: [], question: null });
    $("quiz-score").textContent = "";
    $("quiz-progress").value = 0;
  }
  own() {
    return this.isStarted ? [["seed", String(this.seed)]] : [];
  }
  takeText(query) {
    const seed = Number(query.get("seed") ?? NaN);
    if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32 || (seed === this.seed && this.question)) return;
    this.seed = seed;
    this.#restart();
    if (this.isStarted) this.#ask(false);
  }
  start() {
    if (!this.question) this.#ask(false);
    this.isStarted = true;
  }
  #next() {
    if (this.number + 1 === LENGTH) { this.#finish(); return; }
    this.number++;
    this.#ask(true);
  }
  async #ask(hasFocus) {
    $("quiz-end").hidden = true;
    $("quiz").hidden = false;
    this.question = await this.source.question(this.number, this.seed);
    this.revealed = false;
    $("quiz-progress").value = this.number;
    $("quiz-number").textContent = `Question ${this.number + 1}`;
    $("quiz-about").textContent = `Predict first; then see what the model says. ${LENGTH} questions; this is quiz ${this.seed}.`;
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
    try {
      this.#show(await this.source.reveal(this.number, this.seed, choice), choice);
    } catch (error) {
      if (!error.faults) throw error;
      $("quiz-answer").replaceChildren(error.faults.map((fault) => fault.text).join(" "));
    }
  }
  #show(result, choice) {
    this.settings = result.settings;
    const ends = ({ low, high }) => figure(low) === figure(high) ? "" : ` (${figure(low)} to ${figure(high)})`;
    const times = result.unit === "times" ? "× " : "";
    const found = `${times}${figure(result.answer.value)}${ends(result.answer)}${result.unit === "times" ? "" : " " + result.unit}`;
    this.answers.push({ number: this.number, setting: this.question.setting, question: this.question.question, chosen: this.question.choices[choice], found, isRight: result.is_right });
    const labels = document.querySelectorAll(".choice");
    result.right.forEach((i) => labels[i].classList.add("right"));
    if (!result.is_right) labels[choice].classList.add("wrong");
    const close = result.right.length > 1 ? " The interval overlaps more than one choice; each of them counts as right." : "";
    $("quiz-answer").replaceChildren(
      element("p", {}, element("strong", { className: result.is_right ? "yes" : "no" }, result.is_right ? "Right. " : "Wrong. "), `The model says ${found}.${close}`),
      element("ul", {}, ...result.runs.map((run) => element("li", {}, `${run.name}: ${figure(run.value)}${ends(run)} ${run.figure}`))),
      element("p", {}, result.why));
    $("quiz-score").textContent = `${this.#right} of ${this.answers.length} right`;
    $("quiz-progress").value = this.number + 1;
    for (const input of document.querySelectorAll("input[name=choice]")) input.disabled = true;
    $("quiz-see").hidden = true;
    $("quiz-open").hidden = false;
    $("quiz-next").textContent = this.number + 1 === LENGTH ? "See the result" : "Next question";
    $("quiz-next").focus();
  }
  get #right() {
    return this.answers.filter((one) => one.isRight).length;
  }
  #finish() {
    const skipped = LENGTH - this.answers.length, name = element("input", { id: "quiz-name", type: "text", autocomplete: "name", maxLength: 80 });
    const save = element("a", { className: "button", download: `quiz-${this.seed}.txt` }, "Save the result as a file");
    save.onclick = () => { save.href = URL.createObjectURL(new Blob([this.#sheet(name.value)], { type: "text/plain" })); };
    save.href = "#";
    const again = element("button", { type: "button" }, "Another quiz");
    again.onclick = () => { this.seed = Math.floor(Math.random() * 1e6); this.#restart(); this.#ask(true); this.changed(); };
    const rows = this.answers.map((one) => element("li", { className: one.isRight ? "right" : "wrong" }, `${one.question} You said ${one.chosen}; the model says ${one.found}: ${one.isRight ? "right" : "wrong"}.`));
    const heading = element("h2", { tabIndex: -1 }, `${this.#right} of ${LENGTH} right${skipped ? `, ${plural(skipped, "question")} skipped` : ""}`);
    $("quiz-end").replaceChildren(heading, element("ol", {}, ...rows), element("p", {}, element("label", { htmlFor: "quiz-name" }, "Your name "), name),
      element("div", { className: "actions" }, save, again), element("p", {}, `To be handed in: the file has the seed, ${this.seed}. \`diskmodel quiz --seed ${this.seed}\` prints the same questions with their solutions.`));
    $("quiz").hidden = true;
    $("quiz-end").hidden = false;
    $("quiz-progress").value = LENGTH;
    heading.focus();
  }
  /** The result as a text file. */
  #sheet(name) {
    const lines = this.answers.map((one) => `${one.number + 1}. ${one.setting} ${one.question}\n   answer: ${one.chosen}\n   model:  ${one.found}\n   ${one.isRight ? "right" : "wrong"}\n`);
    return `diskmodel quiz ${this.seed}\nname: ${name.trim() || "(none)"}\nscore: ${this.#right} of ${LENGTH}\n\n${lines.join("\n")}`;
  }
}
