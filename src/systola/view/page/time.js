// The moment that is shown: live, held by the slider, or played; one for all runs.

import { showTime } from "./numbers.js";

const SLIDER = 10000;
const WHOLE = 15; // seconds that the replay of all takes
const CALM = 500; // milliseconds between two moments for those who want little motion

export class Time {
  constructor(onChange) {
    this.onChange = onChange;
    this.isLive = true;
    this.isPlaying = false;
    this.seconds = 0;
    this.last = 0;
    this.first = 0.01;
    this.moments = () => [];
    this.play = document.getElementById("play");
    this.live = document.getElementById("live");
    this.slider = document.getElementById("moment");
    this.clock = document.getElementById("clock");
    this.speed = document.getElementById("speed");
    this.scale = document.getElementById("scale");
    this.range = document.getElementById("range");
    this.play.addEventListener("click", () => this.toggle());
    this.live.addEventListener("click", () => this.goLive());
    this.slider.addEventListener("input", () => this.hold(this.fromSlider(Number(this.slider.value))));
    this.slider.addEventListener("keydown", (event) => this.onSliderKey(event));
    const more = document.getElementById("more"); // on narrow screens
    more.addEventListener("click", () => {
      const isOpen = document.getElementById("choices").classList.toggle("open");
      more.setAttribute("aria-expanded", String(isOpen));
    });
    for (const choice of [this.scale, this.range]) choice.addEventListener("change", () => this.show());
    document.addEventListener("keydown", (event) => this.onKey(event));
    this.show();
  }

  // What is shown: Infinity is whatever came last.
  get shown() {
    return this.isLive ? Infinity : this.seconds;
  }

  get options() {
    return { scale: this.scale.value, range: this.range.value };
  }

  // Runs go on until `last`; `first` is where a logarithmic scale begins.
  setExtent(first, last, moments) {
    this.first = Math.max(Math.min(first, last / 2), last / 1e6, 1e-6);
    this.last = last;
    this.moments = moments;
    this.show(false);
  }

  toSlider(seconds) {
    if (!(this.last > 0)) return SLIDER;
    const part = this.scale.value === "log"
      ? Math.log(Math.max(seconds, this.first) / this.first) / Math.log(this.last / this.first)
      : seconds / this.last;
    return Math.round(SLIDER * Math.min(Math.max(part, 0), 1));
  }

  fromSlider(place) {
    const part = place / SLIDER;
    return this.scale.value === "log" ? this.first * (this.last / this.first) ** part : this.last * part;
  }

  hold(seconds) {
    this.isLive = false;
    this.seconds = Math.min(Math.max(seconds, 0), this.last);
    this.show();
  }

  goLive() {
    this.isPlaying = false;
    this.isLive = true;
    this.show();
  }

  toggle() {
    this.isPlaying = !this.isPlaying;
    if (this.isPlaying) {
      if (this.isLive || this.seconds >= this.last) this.seconds = 0;
      this.isLive = false;
      this.before = performance.now();
      requestAnimationFrame((now) => this.advance(now));
    }
    this.show();
  }

  advance(now) {
    if (!this.isPlaying) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!calm || now - this.before >= CALM) {
      const rate = this.speed.value === "whole" ? this.last / WHOLE : Number(this.speed.value);
      this.seconds += (rate * Math.max(now - this.before, 0)) / 1000;
      this.before = now;
      if (this.seconds >= this.last) {
        this.goLive();
        return;
      }
      this.show();
    }
    requestAnimationFrame((next) => this.advance(next));
  }

  // To the next moment at which a run changed, or back to the one before.
  step(direction) {
    const here = this.isLive ? this.last : this.seconds;
    const all = this.moments();
    const found = direction > 0 ? all.find((at) => at > here) : all.findLast((at) => at < here);
    this.isPlaying = false;
    this.hold(found ?? (direction > 0 ? this.last : 0));
  }

  onSliderKey(event) {
    const direction = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (direction && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      this.step(direction);
    }
  }

  // The space bar plays and pauses wherever it has no other meaning.
  onKey(event) {
    const used = event.target.closest("button, input, select, summary, a, textarea");
    if (event.key !== " " || used || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.toggle();
  }

  show(isNews = true) {
    const here = this.isLive ? this.last : this.seconds;
    const place = String(this.toSlider(here));
    if (this.slider.value !== place) this.slider.value = place;
    this.slider.setAttribute("aria-valuetext", `${showTime(here)} of ${showTime(this.last)}`);
    this.slider.style.setProperty("--part", `${Number(place) / (SLIDER / 100)}%`);
    this.clock.textContent = `${showTime(here)} / ${showTime(this.last)}`;
    this.live.setAttribute("aria-pressed", String(this.isLive));
    this.play.dataset.playing = String(this.isPlaying);
    this.play.lastElementChild.textContent = this.isPlaying ? "Pause" : "Play";
    if (isNews) this.onChange();
  }
}
