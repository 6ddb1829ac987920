"use strict";
// A film of a grid: a slider chooses the moment, and a button plays them all.
const canvas = document.querySelector("canvas");
const slider = document.getElementById("moment");
const button = document.getElementById("play");
const told = document.getElementById("told");
const { width, height } = canvas;
const frames = Uint8Array.from(atob(canvas.dataset.frames), (letter) => letter.charCodeAt(0));
const steps = canvas.dataset.steps.split(",").map(Number);
const palette = canvas.dataset.palette.match(/../g).map((pair) => parseInt(pair, 16));
const pen = canvas.getContext("2d");
const image = pen.createImageData(width, height);
const show = (moment) => {
  for (let cell = 0; cell < width * height; cell++) {
    const colour = 3 * frames[moment * width * height + cell];
    image.data.set([palette[colour], palette[colour + 1], palette[colour + 2], 255], 4 * cell);
  }
  pen.putImageData(image, 0, 0);
  slider.value = moment;
  slider.setAttribute("aria-valuetext", "step " + steps[moment]);
  told.textContent = "Step " + steps[moment].toLocaleString("en");
};
let timer = 0;
const stop = () => {
  clearInterval(timer);
  timer = 0;
  button.textContent = "Play";
};
button.addEventListener("click", () => {
  if (timer) return stop();
  button.textContent = "Pause";
  if (Number(slider.value) === steps.length - 1) show(0);
  timer = setInterval(() => (Number(slider.value) < steps.length - 1 ? show(Number(slider.value) + 1) : stop()), 100);
});
slider.addEventListener("input", () => {
  stop();
  show(Number(slider.value));
});
show(0);
