// The best solution as its problem likes to be drawn: marks in a box.

import { draw, make, write } from "./elements.js";
import { isNumber, showTime } from "./numbers.js";

const colourOf = (mark) => (isNumber(mark.colour) ? `c${mark.colour}` : "ink");

export class Solution {
  constructor() {
    this.svg = draw("svg", { class: "solution", role: "img" });
    this.caption = make("figcaption");
    this.element = make("figure", { class: "view" }, this.caption, this.svg);
    this.drawn = null;
  }

  // `at` is when it was the best, if there is a better one by now.
  update(drawing, at) {
    const caption = `Best solution${isNumber(at) ? ` after ${showTime(at)}` : ""}${drawing.caption ? `: ${drawing.caption}` : ""}`;
    write(this.caption, caption);
    this.svg.setAttribute("aria-label", `Drawing, ${caption}`);
    if (drawing === this.drawn) return;
    this.drawn = drawing;
    const { width, height, marks } = drawing;
    const size = Math.max(width, height) / 45;
    const room = size / 2;
    this.svg.setAttribute("viewBox", `${-room} ${-room} ${width + 2 * room} ${height + 2 * room}`);
    this.svg.style.maxWidth = `${Math.min((26 * width) / height, 80)}rem`;
    this.svg.replaceChildren(...marks.flatMap((mark) => MARKS[mark.mark](mark, size)));
  }
}

const labelled = (element, label) => {
  if (label) element.append(draw("title", {}, label));
  return element;
};

const MARKS = {
  rect(mark, size) {
    const { x, y, w, h, label } = mark;
    const box = labelled(draw("rect", { class: `area ${colourOf(mark)}`, x, y, width: w, height: h }), label);
    const fits = label && w > 0.62 * size * label.length && h > 1.2 * size;
    return fits ? [box, draw("text", { class: "inside", x: x + w / 2, y: y + h / 2 + size / 3, "font-size": size }, label)] : [box];
  },
  line(mark) {
    return [labelled(draw("polyline", { class: `line ${colourOf(mark)}`, points: mark.points.join(" ") }), mark.label)];
  },
  point(mark, size) {
    return [labelled(draw("circle", { class: `area ${colourOf(mark)}`, cx: mark.x, cy: mark.y, r: size / 3 }), mark.label)];
  },
  text(mark, size) {
    return [draw("text", { class: "words", x: mark.x, y: mark.y, "font-size": size }, mark.text)];
  },
};
