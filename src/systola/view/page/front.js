// The front in two objectives, and faint where it was before.

import { Chart, widen } from "./chart.js";
import { draw, write } from "./elements.js";
import { showNumber, showShort, showTime, ticks } from "./numbers.js";

const GHOSTS = 3;

export class Front extends Chart {
  update(run, picture, seconds, options) {
    this.last = [run, picture, seconds, options];
    const { all, count } = run.pictured("front", seconds);
    const range = run.cache("range of fronts", () => [0, 1].map((axis) => rangeOf(all, axis)));
    const [[left, right], [low, high]] = range.map(([a, b]) => (a <= b ? widen(a, b) : [0, 1]));
    this.across = (value) => (value - left) / (right - left);
    this.begin(low, high, (about) => ticks(left, right, about).map((at) => ({ at, text: Math.abs(at) >= 1e5 ? showShort(at) : showNumber(at) })));
    for (let k = GHOSTS; k > 0; k--) {
      const before = all[Math.floor((count * (GHOSTS - k)) / GHOSTS)];
      if (before && before.picture !== picture) this.addPoints(before.picture, "ghost");
    }
    this.addPoints(picture, "point");
    const names = run.objectives.map((objective) => objective.name);
    const more = names.length > 2 ? `, two of ${names.length} objectives` : "";
    write(this.caption, `Front of ${showNumber(picture.size)}${more}: ${names[0]} →, ${names[1] || "second"} ↑`);
    this.svg.setAttribute("aria-label", `Front of ${picture.size} solutions in ${names.join(" and ")}, after ${showTime(seconds)}`);
  }

  addPoints(picture, kind) {
    const group = draw("g", { class: kind });
    for (const [x, y = 0] of picture.points) {
      group.append(draw("circle", { cx: this.x(x).toFixed(1), cy: this.y(y).toFixed(1), r: kind === "ghost" ? 2 : 3.2 }));
    }
    this.svg.append(group);
  }
}

function rangeOf(frames, axis) {
  let [low, high] = [Infinity, -Infinity];
  for (const frame of frames) {
    for (const point of frame.picture.points) [low, high] = [Math.min(low, point[axis] ?? 0), Math.max(high, point[axis] ?? 0)];
  }
  return [low, high];
}
