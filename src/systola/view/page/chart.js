// The frame of a chart: axes, round numbers beside them, and where a value lies.

import { draw, make } from "./elements.js";
import { showNumber, showShort, ticks } from "./numbers.js";

const LETTER = 6.4; // width of a digit

export class Chart {
  constructor(caption = "") {
    this.svg = draw("svg", { class: "chart", role: "img" });
    this.caption = make("figcaption", {}, caption);
    this.element = make("figure", { class: "view" }, this.caption, this.svg);
    this.width = 0;
    // Drawn again as it was: `update` of each kind of chart keeps in `last` what it was given.
    this.sized = new ResizeObserver(() => this.last && this.update(...this.last));
    this.sized.observe(this.element);
  }

  get innerWidth() {
    return Math.max(Math.floor(this.element.clientWidth), 160);
  }

  // Axes for values from low to high and, across, what `across` makes of the width between the margins.
  begin(low, high, across) {
    this.width = this.innerWidth;
    const height = Math.round(Math.min(Math.max(0.62 * this.width, 200), 380));
    const marked = ticks(low, high, 5);
    const text = textOfTicks(marked);
    const left = Math.min(8 + LETTER * Math.max(...marked.map((value) => text(value).length)), this.width / 3);
    this.box = { left, right: this.width - 10, top: 20, bottom: height - 26 };
    this.low = low;
    this.high = high;
    this.svg.replaceChildren();
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    const lines = draw("g", { class: "grid" });
    const words = draw("g", { class: "ticks" });
    for (const value of marked) {
      const y = this.y(value);
      lines.append(draw("line", { x1: left, x2: this.box.right, y1: y, y2: y }));
      words.append(draw("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, text(value)));
    }
    let free = -Infinity;
    for (const { at, text: word } of across(Math.min(Math.max(2, Math.floor((this.width - left) / 76)), 8))) {
      const x = this.x(at);
      const half = (LETTER * word.length) / 2;
      const middle = Math.min(Math.max(x, left + half - 6), this.width - half - 1);
      if (!(x >= left - 1 && x <= this.box.right + 1) || middle - half < free) continue;
      free = middle + half + 8;
      lines.append(draw("line", { class: "tick", x1: x, x2: x, y1: this.box.bottom, y2: this.box.bottom + 4 }));
      words.append(draw("text", { x: middle, y: height - 7, "text-anchor": "middle" }, word));
    }
    this.svg.append(lines, words);
  }

  x(value) {
    return this.box.left + this.across(value) * (this.box.right - this.box.left);
  }

  y(value) {
    return this.box.bottom - ((value - this.low) / (this.high - this.low)) * (this.box.bottom - this.box.top);
  }
}

// Long numbers are shortened where that keeps them apart.
function textOfTicks(marked) {
  const short = marked.map(showShort);
  const long = marked.map(showNumber);
  const isLong = Math.max(...long.map((text) => text.length)) > 8;
  return isLong && new Set(short).size === marked.length ? showShort : showNumber;
}

// A little room above and below; one value alone lies in the middle.
export function widen(low, high) {
  const room = high > low ? 0.06 * (high - low) : Math.abs(low) * 0.05 || 1;
  return [low - room, high + room];
}

const round = (x) => Math.round(x * 10) / 10;

// A path of steps through [x, y], with gaps where y is null, and no more than two points a pixel.
export function steps(points) {
  let path = "";
  let last = null;
  for (const point of points) {
    if (point[1] === null) last = null;
    else if (last === null) path += `M${round(point[0])} ${round(point[1])}`;
    else if (point[1] !== last[1] || point === points[points.length - 1]) path += `H${round(point[0])}V${round(point[1])}`;
    if (point[1] !== null) last = point;
  }
  return path;
}

export const polyline = (points) =>
  points.map(([x, y], k) => `${k ? "L" : "M"}${round(x)} ${round(y)}`).join("");
