// A torus of demes, coloured by their best, and migrations as arrows that fade over the next frames.

import { asText, lookUp, partOf } from "./colours.js";
import { draw, make, write } from "./elements.js";
import { ColourBar } from "./field.js";
import { isNumber, showNumber, showShort, showTime } from "./numbers.js";

const FADE = 6; // frames after which an arrow is gone
const MOST_ARROWS = 300;
const MOST_LABELS = 36;
const CELL = 100;
const SIDE = 66; // of a deme in its cell

export class Demes {
  constructor() {
    this.svg = draw("svg", { class: "demes", role: "img" });
    this.caption = make("figcaption");
    this.bar = new ColourBar();
    this.element = make("figure", { class: "view square" }, this.caption, this.svg, this.bar.element);
  }

  update(run, picture, seconds, options) {
    const { rows, columns, best } = picture;
    const values = best.filter(isNumber);
    const [low, high] = (options.range === "run" && rangeOfRun(run)) || [Math.min(...values), Math.max(...values)];
    // The better, the lighter, whatever the sense is.
    const isDescending = picture.name === "objective" && run.objectives[0].sense === "minimise";
    const part = (value) => (isDescending ? 1 - partOf(value, low, high) : partOf(value, low, high));
    this.svg.setAttribute("viewBox", `0 0 ${columns * CELL} ${rows * CELL}`);
    this.element.classList.toggle("square", columns < 2 * rows);
    const boxes = draw("g");
    best.forEach((value, k) => boxes.append(...boxOf(k, columns, value, part, best.length <= MOST_LABELS)));
    const arrows = draw("g", { class: "arrows" });
    const sent = this.addArrows(arrows, run, picture, seconds);
    this.svg.replaceChildren(boxes, arrows);
    if (values.length) this.bar.update(...(isDescending ? [high, low] : [low, high]));
    const moved = sent ? `; ${showNumber(sent)} solutions migrate` : "";
    write(this.caption, `${showNumber(best.length)} demes by best ${picture.name || "objective"}`);
    this.svg.setAttribute("aria-label", `${best.length} demes, best ${showNumber(isDescending ? low : high)}${moved}, after ${showTime(seconds)}`);
  }

  // Gives how many solutions migrated in the last frame.
  addArrows(group, run, picture, seconds) {
    const { all, count } = run.pictured("demes", seconds);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const span = (still ? 1 : FADE) * run.logs.length;
    const recent = all.slice(Math.max(count - span, 0), count);
    const shown = new Map(); // the newest of each pair of demes
    let now = 0;
    recent.forEach((frame, k) => {
      const age = Math.floor((recent.length - 1 - k) / run.logs.length);
      for (const [from, to, many] of frame.picture.migrations) {
        if (many > 0) shown.set(`${from} ${to}`, { from, to, many, age });
        if (age === 0) now += many;
      }
    });
    for (const arrow of [...shown.values()].slice(-MOST_ARROWS)) group.append(...arrowsOf(arrow, picture));
    return now;
  }
}

function boxOf(k, columns, value, part, isLabelled) {
  const x = (k % columns) * CELL + (CELL - SIDE) / 2;
  const y = Math.floor(k / columns) * CELL + (CELL - SIDE) / 2;
  const shade = isNumber(value) ? part(value) : 0;
  const box = draw("rect", { class: isNumber(value) ? "deme" : "deme none", x, y, width: SIDE, height: SIDE, rx: 10 });
  if (isNumber(value)) box.setAttribute("fill", asText(lookUp(shade)));
  box.append(draw("title", {}, `deme ${k}: ${showNumber(value)}`));
  if (!isLabelled) return [box];
  const text = Math.abs(value) >= 1e6 ? showShort(value) : showNumber(value);
  const size = Math.min(20, (SIDE - 6) / (0.66 * text.length));
  const tone = !isNumber(value) ? "none" : shade > 0.52 ? "dark" : "light";
  const label = draw("text", { class: `deme ${tone}`, x: x + SIDE / 2, y: y + SIDE / 2 + size / 3, "font-size": size }, text);
  return [box, label];
}

// On a torus the shortest way may leave at one edge and come in at the other: then the arrow is drawn twice.
function arrowsOf({ from, to, many, age }, { rows, columns }) {
  const [x, y] = [from % columns, Math.floor(from / columns)];
  const wrapped = (distance, size) => ((((distance + size / 2) % size) + size) % size) - size / 2;
  let dx = wrapped((to % columns) - x, columns);
  let dy = wrapped(Math.floor(to / columns) - y, rows);
  if (columns === 2 && dx) dx = (to % columns) - x;
  if (rows === 2 && dy) dy = Math.floor(to / columns) - y;
  const [u, v] = [to % columns, Math.floor(to / columns)];
  const ways = [[x, y, x + dx, y + dy]];
  if (x + dx !== u || y + dy !== v) ways.push([u - dx, v - dy, u, v]);
  return ways.map(([x1, y1, x2, y2]) => oneArrow(x1, y1, x2, y2, many, age));
}

function oneArrow(x1, y1, x2, y2, many, age) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ex, ey] = [(x2 - x1) / length, (y2 - y1) / length];
  const [sx, sy] = [-ey * 0.09, ex * 0.09]; // to the right of the way, so that both directions are seen
  const at = (x, y, along) => [(x + 0.5 + sx + ex * along) * CELL, (y + 0.5 + sy + ey * along) * CELL];
  const [ax, ay] = at(x1, y1, 0.34);
  const [bx, by] = at(x2, y2, -0.34);
  const wing = (turn) => [bx - CELL * (0.13 * ex - 0.075 * turn * ey), by - CELL * (0.13 * ey + 0.075 * turn * ex)];
  const head = [wing(1), [bx, by], wing(-1)].map((p) => p.map((q) => q.toFixed(1)).join(" ")).join("L");
  const path = `M${ax.toFixed(1)} ${ay.toFixed(1)}L${bx.toFixed(1)} ${by.toFixed(1)}M${head}`;
  const arrow = draw("path", { d: path, "stroke-width": Math.min(3 + 0.6 * Math.log2(many), 7), "data-age": age });
  arrow.style.opacity = String(1 - age / FADE);
  return arrow;
}

function rangeOfRun(run) {
  return run.cache("range of demes", () => {
    let [low, high] = [Infinity, -Infinity];
    for (const frame of run.pictured("demes", Infinity).all) {
      for (const value of frame.picture.best) {
        if (isNumber(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
      }
    }
    return low <= high ? [low, high] : null;
  });
}
