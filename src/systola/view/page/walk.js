// Walks: where each lane is, over time, and the best of them.

import { Chart, polyline, steps, widen } from "./chart.js";
import { draw, write } from "./elements.js";
import { isNumber, showNumber, showTime, timeTicks } from "./numbers.js";

const MOST_LANES = 12;
const MOST_FRAMES = 300;

export class Walk extends Chart {
  update(run, picture, seconds, options) {
    this.last = [run, picture, seconds, options];
    const { all, count } = run.pictured("walk", seconds);
    const stride = Math.max(1, Math.ceil(all.length / MOST_FRAMES));
    const frames = all.filter((_, k) => k % stride === 0 || k === count - 1);
    const lanes = Math.min(picture.current.length, MOST_LANES);
    const values = frames.flatMap((f) => [...f.picture.current.slice(0, lanes), ...f.picture.best.slice(0, lanes)]).filter(isNumber);
    const [low, high] = values.length ? widen(Math.min(...values), Math.max(...values)) : [0, 1];
    const until = Math.max(run.lastSecond, 1e-3);
    this.across = (at) => at / until;
    this.begin(low, high, (about) => timeTicks(until, about));
    const past = frames.filter((frame) => frame.seconds <= seconds);
    for (let lane = 0; lane < lanes; lane++) {
      const points = past.map((f) => [f.seconds, f.picture.current[lane]]).filter((p) => isNumber(p[1]));
      this.svg.append(draw("path", { class: "lane", d: polyline(points.map(([at, value]) => [this.x(at), this.y(value)])) }));
    }
    const isLess = (picture.name || "objective") === "objective" && run.objectives[0].sense === "minimise";
    const bestOf = (told) => told.filter(isNumber).reduce((a, b) => (a === null || (isLess ? b < a : b > a) ? b : a), null);
    const best = past.map((f) => [this.x(f.seconds), bestOf(f.picture.best)]).map(([x, v]) => [x, v === null ? null : this.y(v)]);
    this.svg.append(draw("path", { class: "past", d: steps(best) }));
    const many = picture.current.length;
    const shown = many > lanes ? `${lanes} of ${showNumber(many)} walks` : many === 1 ? "The walk" : `${many} walks`;
    write(this.caption, `${shown} and the best`);
    this.svg.setAttribute("aria-label", `${shown} at ${showNumber(bestOf(picture.current))}, best ${showNumber(bestOf(picture.best))}, after ${showTime(seconds)}`);
  }
}
