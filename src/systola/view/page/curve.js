// How the best objective went on: all of it faint, and strong up to the moment that is shown.

import { Chart, steps, widen } from "./chart.js";
import { draw, write } from "./elements.js";
import { isNumber, logTimeTicks, showNumber, showTime, timeTicks } from "./numbers.js";

export class Curve extends Chart {
  constructor() {
    super("Best so far");
    this.drawn = "";
  }

  update(run, state, seconds, options) {
    this.last = [run, state, seconds, options];
    const { name, points } = run.series;
    const values = points.map((point) => point[1]).filter(isNumber);
    this.element.hidden = points.length === 0;
    if (this.element.hidden) return;
    const until = Math.max(run.lastSecond, 1e-3);
    const drawn = [run.version, this.innerWidth, options.scale, until].join();
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.drawAll(run, points, values, until, options.scale === "log");
      write(this.caption, name === "solutions in the front" ? "Solutions in the front" : `Best ${name} so far`);
    }
    const moment = Math.min(seconds, until);
    this.moveTo(moment, run.bestAt(moment), name);
  }

  drawAll(run, points, values, until, isLog) {
    const known = run.series.name === "solutions in the front" ? null : run.known;
    const all = known === null ? values : [...values, known];
    const [low, high] = all.length ? widen(Math.min(...all), Math.max(...all)) : [0, 1];
    const first = Math.max(points.find((point) => point[0] > 0)?.[0] ?? until / 100, until / 1e6);
    const start = Math.min(first, until / 2);
    this.across = isLog
      ? (seconds) => Math.max(0, Math.log(Math.max(seconds, start) / start) / Math.log(until / start))
      : (seconds) => seconds / until;
    this.begin(low, high, (about) => (isLog ? logTimeTicks(start, until) : timeTicks(until, about)));
    if (known !== null) {
      const y = this.y(known);
      this.svg.append(
        draw("line", { class: "known", x1: this.box.left, x2: this.box.right, y1: y, y2: y }),
        draw("text", { class: "known", x: this.box.left + 6, y: y - 6 }, `best known ${showNumber(known)}`),
      );
    }
    const placed = points.map(([seconds, value]) => [this.x(seconds), isNumber(value) ? this.y(value) : null]);
    const path = steps(placed);
    this.past = draw("rect", { x: 0, y: 0, width: 0, height: 400 });
    const clip = `past-${(Curve.count = (Curve.count || 0) + 1)}`;
    this.cursor = draw("line", { class: "cursor", y1: this.box.top - 6, y2: this.box.bottom });
    this.dot = draw("circle", { class: "dot", r: 4.5 });
    this.svg.append(
      draw("clipPath", { id: clip }, this.past),
      draw("path", { class: "future", d: path }),
      draw("path", { class: "past", d: path, "clip-path": `url(#${clip})` }),
      this.cursor,
      this.dot,
    );
  }

  moveTo(seconds, value, name) {
    const x = this.x(seconds);
    this.past.setAttribute("width", Math.max(x + 0.5, 0));
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.dot.classList.toggle("none", !isNumber(value));
    if (isNumber(value)) {
      this.dot.setAttribute("cx", x);
      this.dot.setAttribute("cy", this.y(value));
    }
    this.svg.setAttribute("aria-label", `${name} over time: ${showNumber(value)} after ${showTime(seconds)}`);
  }
}
