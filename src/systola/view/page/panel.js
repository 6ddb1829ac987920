// One run: its name, its numbers, its pictures, and what else its log tells.

import { Curve } from "./curve.js";
import { Demes } from "./demes.js";
import { make, setShown, write } from "./elements.js";
import { Field } from "./field.js";
import { Front } from "./front.js";
import { isNumber, showAge, showNumber, showPart, showShort, showTime, showValues } from "./numbers.js";
import { Solution } from "./solution.js";
import { Walk } from "./walk.js";

const KINDS = { field: Field, demes: Demes, walk: Walk, front: Front };
const SILENT = 20; // seconds without news after which the page says so

let panels = 0;

export class Panel {
  constructor(run) {
    this.run = run;
    this.number = ++panels;
    this.title = make("h2", { id: `run-${this.number}` });
    this.what = make("p", { class: "what" });
    this.state = make("p", { class: "state" });
    this.trouble = make("p", { class: "trouble", hidden: "" });
    this.best = make("dd", { class: "value" });
    this.bestName = make("dt");
    this.gap = make("dd", { class: "gap" });
    this.numbers = new Map(["time", "iterations", "evaluations", "evaluations/s"].map((name) => [name, make("dd")]));
    this.message = make("p", { class: "message", hidden: "" });
    this.curve = new Curve();
    this.solution = new Solution();
    this.picture = null;
    this.pictureType = "";
    this.views = make("div", { class: "views" }, this.curve.element, this.solution.element);
    this.curve.element.hidden = this.solution.element.hidden = true;
    this.about = make("dl", { class: "about" });
    this.messages = make("ol", { class: "messages" });
    this.summary = make("summary");
    const details = make("details", {}, this.summary, this.about, this.messages);
    const best = make("dl", { class: "best" }, this.bestName, this.best, this.gap);
    const numbers = make("dl", { class: "numbers" });
    for (const [name, value] of this.numbers) numbers.append(make("div", {}, make("dt", {}, name), value));
    this.element = make(
      "article",
      { class: "run", "aria-labelledby": `run-${this.number}` },
      make("header", {}, make("div", {}, this.title, this.what), this.state),
      this.trouble, make("div", { class: "figures" }, best, numbers), this.message, this.views, details,
    );
    this.told = "";
    this.shown = "";
  }

  // Show the run at a moment; what is damaged in it stays in this panel.
  update(seconds, options) {
    try {
      const state = this.run.at(seconds);
      this.updateHead();
      this.updateNumbers(state);
      const moment = Math.min(seconds, this.run.lastSecond);
      this.curve.update(this.run, state, moment, options);
      const shown = [this.run.version, state.places, options.range].join(" ");
      if (shown !== this.shown) {
        this.shown = shown;
        this.updatePicture(state, options);
        setShown(this.solution.element, Boolean(state.drawing));
      }
      if (state.drawing) this.solution.update(state.drawing, state.drawnAt);
      this.tell(this.run.troubles);
    } catch (error) {
      console.error(error);
      this.tell([...this.run.troubles, "A part of this log cannot be shown."]);
    }
  }

  tell(troubles) {
    setShown(this.trouble, troubles.length > 0);
    write(this.trouble, troubles.join(" "));
  }

  updateHead() {
    const { run } = this;
    const header = run.header;
    const [kind, text] = stateOf(run);
    this.state.dataset.state = kind;
    write(this.state, text);
    const told = `${run.version} ${run.logs.length}`;
    if (told === this.told) return;
    this.told = told;
    write(this.title, header ? header.instance : run.logs[0].name);
    if (!header) return;
    const where = header.ranks > 1 ? `${header.ranks} processes` : header.threads === 1 ? "1 thread" : `${header.threads} threads`;
    write(this.what, `${header.algorithm} on ${header.problem} · seed ${header.seed} · ${header.backend}, ${where}`);
    write(this.summary, "About this run");
    this.about.replaceChildren(...aboutOf(run).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
    const told100 = run.logs.flatMap((log) => log.messages).slice(-100);
    this.messages.replaceChildren(...told100.map(({ seconds, text: word }) => make("li", {}, make("span", {}, showTime(seconds)), word)));
  }

  updateNumbers({ frame, picture, messages }) {
    const { run } = this;
    const [name, value] = headlineOf(run, frame, picture);
    write(this.bestName, name);
    write(this.best, value);
    const [tone, gap] = frame ? gapOf(run, frame) : ["", ""];
    this.gap.dataset.tone = tone;
    write(this.gap, gap);
    const rate = frame && frame.seconds > 0 ? frame.evaluations / frame.seconds : null;
    const told = frame
      ? [showTime(frame.seconds), showNumber(frame.iterations), showNumber(frame.evaluations), showShort(rate)]
      : ["–", "–", "–", "–"];
    [...this.numbers.values()].forEach((value, k) => write(value, told[k]));
    const isWaiting = !run.hasEnded && messages.length > 0 && (!frame || frame.stage !== "running");
    setShown(this.message, isWaiting);
    write(this.message, isWaiting ? messages[messages.length - 1].text : "");
  }

  updatePicture({ picture, frame }, options) {
    const type = picture ? picture.type : "";
    if (type !== this.pictureType) {
      if (this.picture) this.picture.element.remove();
      this.pictureType = type;
      this.picture = KINDS[type] ? new KINDS[type]() : null;
      if (this.picture) this.curve.element.after(this.picture.element);
    }
    if (this.picture) this.picture.update(this.run, picture, frame.seconds, options);
  }

  // In a sentence, for those who listen.
  get sentence() {
    const { frame, picture } = this.run.at(Infinity);
    const name = this.title.textContent;
    if (!frame) return `${name}: ${stateOf(this.run)[1]}.`;
    return `${name}: ${headlineOf(this.run, frame, picture).join(" ")} after ${showTime(frame.seconds)}, ${stateOf(this.run)[1]}.`;
  }
}

function stateOf(run) {
  if (run.troubles.length) return ["damaged", "damaged"];
  if (run.hasEnded) {
    const stop = run.logs[0].end.stop;
    return stop === "interrupted" ? ["ended", "interrupted"] : ["ended", `finished: ${stop}`];
  }
  const last = run.at(Infinity).frame;
  if (run.header && run.silentSeconds > SILENT) return ["silent", `no news for ${showAge(run.silentSeconds)}`];
  return ["running", last ? last.stage : run.header ? "starting" : "waiting"];
}

// What is found, in a word and a number.
function headlineOf(run, frame, picture) {
  const [objective, ...others] = run.objectives;
  if (picture && picture.type === "front") return ["solutions in the front", showNumber(picture.size)];
  const name = others.length ? `best ${run.objectives.map((each) => each.name).join(", ")}` : `best ${objective.name}, ${objective.sense}d`;
  return [name, frame ? showValues(frame.best) : "–"];
}

function gapOf(run, frame) {
  if (!frame.best) return ["", "nothing found yet"];
  if (!frame.feasible) return ["bad", `infeasible by ${showNumber(frame.violation)}`];
  if (run.known === null || run.objectives.length > 1) return ["", ""];
  const best = frame.best[0];
  if (!isNumber(best)) return ["", ""];
  if (best === run.known) return ["good", "the best known value"];
  if (run.isBetter(best, run.known)) return ["good", `better than the best known, ${showNumber(run.known)}`];
  const part = Math.abs(best - run.known) / Math.max(Math.abs(run.known), 1e-12);
  return ["", `${showPart(part)} from the best known`];
}

const showAny = (value) => (isNumber(value) ? showNumber(value) : typeof value === "string" ? value : JSON.stringify(value));

function aboutOf(run) {
  const header = run.header;
  const started = new Date(header.started);
  const told = [
    ["started", Number.isNaN(started.getTime()) ? header.started : started.toLocaleString()],
    ["engine", header.engine],
    ["stops at", Object.entries(header.stop).map(([name, value]) => `${name} ${showAny(value)}`).join(", ") || "–"],
    ...Object.entries(header.parameters).map(([name, value]) => [name, showAny(value)]),
    ["run", header.id],
    ["version", header.version],
    ["log", run.logs.map((log) => log.name).join(", ")],
  ];
  const resumed = run.logs[0].resumed;
  if (resumed) told.push(["resumed", resumed === 1 ? "once" : `${resumed} times`]);
  return told;
}
