// The cells of a grid or a population, coloured by fitness, on a canvas with a pixel for each.

import { lookUp, MAP, partOf } from "./colours.js";
import { make, write } from "./elements.js";
import { isNumber, showNumber, showTime } from "./numbers.js";

const NONE = 255; // no value, or infeasible

export class ColourBar {
  constructor() {
    const bar = make("canvas", { width: MAP.length, height: 1, "aria-hidden": "true" });
    const context = bar.getContext("2d");
    const image = context.createImageData(MAP.length, 1);
    MAP.forEach(([r, g, b], k) => image.data.set([r, g, b, 255], 4 * k));
    context.putImageData(image, 0, 0);
    this.low = make("span");
    this.high = make("span");
    this.element = make("p", { class: "bar" }, this.low, bar, this.high);
  }

  update(low, high) {
    write(this.low, showNumber(low));
    write(this.high, showNumber(high));
  }
}

export class Field {
  constructor() {
    this.canvas = make("canvas", { class: "cells", role: "img" });
    this.caption = make("figcaption");
    this.bar = new ColourBar();
    this.element = make("figure", { class: "view square" }, this.caption, this.canvas, this.bar.element);
  }

  update(run, picture, seconds, options) {
    const { rows, columns } = picture;
    const bytes = Uint8Array.from(atob(picture.values), (letter) => letter.charCodeAt(0));
    const ofRun = options.range === "run" ? rangeOfRun(run) : null;
    const [low, high] = ofRun || [picture.low, picture.high];
    if (this.canvas.width !== columns || this.canvas.height !== rows) {
      [this.canvas.width, this.canvas.height] = [columns, rows];
      const shape = Math.min(Math.max(columns / rows, 0.8), 5);
      this.canvas.style.aspectRatio = String(shape);
      this.element.classList.toggle("square", shape < 2);
    }
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(columns, rows);
    for (let k = 0; k < rows * columns; k++) {
      if (bytes[k] === NONE) continue; // stays transparent
      const value = picture.low + ((picture.high - picture.low) * bytes[k]) / 254;
      const [r, g, b] = lookUp(partOf(value, low, high));
      image.data.set([r, g, b, 255], 4 * k);
    }
    context.putImageData(image, 0, 0);
    this.bar.update(low, high);
    write(this.caption, `${rows} × ${columns} cells by ${picture.name}`);
    const range = isNumber(picture.low) ? `, from ${showNumber(picture.low)} to ${showNumber(picture.high)}` : "";
    this.canvas.setAttribute("aria-label", `${picture.name} of ${rows} by ${columns} cells${range}, after ${showTime(seconds)}`);
  }
}

function rangeOfRun(run) {
  return run.cache("range of fields", () => {
    const pictures = run.pictured("field", Infinity).all.map((frame) => frame.picture).filter((p) => isNumber(p.low));
    if (!pictures.length) return null;
    return [pictures, pictures].map((all, k) =>
      all.reduce((found, p) => (k ? Math.max(found, p.high) : Math.min(found, p.low)), k ? -Infinity : Infinity),
    );
  });
}
