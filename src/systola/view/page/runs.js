// What the logs have told so far: each log as it was sent, and runs, which are the logs of all processes of a job.

import { isNumber } from "./numbers.js";

// The index of the last entry at or before a moment; -1 if there is none.
function indexAt(entries, seconds, secondsOf = (entry) => entry.seconds) {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (secondsOf(entries[middle]) <= seconds) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export class Log {
  constructor(key) {
    this.key = key;
    this.name = "";
    this.clear();
  }

  clear() {
    this.header = null;
    this.resumed = 0;
    this.frames = [];
    this.messages = [];
    this.drawings = [];
    this.end = null;
    this.trouble = "";
    this.heardAt = 0;
  }

  add(news) {
    if (news.anew) this.clear();
    if (news.name) this.name = news.name;
    this.trouble = news.trouble || "";
    if (isNumber(news.age)) this.heardAt = Date.now() - 1000 * news.age;
    for (const entry of news.entries || []) this.addEntry(entry);
  }

  addEntry(entry) {
    if (entry.kind === "header") {
      if (this.header) this.resumed += 1;
      else this.header = entry;
      return;
    }
    if (entry.kind === "message") this.messages.push(entry);
    else if (entry.kind === "frame") this.frames.push(entry);
    else if (entry.kind === "end") {
      this.end = entry;
      const last = this.frames.length ? this.frames[this.frames.length - 1] : {};
      const seconds = Math.max(entry.seconds, last.seconds || 0); // frames must not go back in time
      this.frames.push({ ...entry, seconds, stage: "ended", picture: last.picture && { ...last.picture, migrations: [] } });
    }
    if (entry.drawing) this.drawings.push({ seconds: entry.seconds, drawing: entry.drawing });
  }

  get lastSecond() {
    return Math.max(0, ...[this.frames, this.messages].map((told) => (told.length ? told[told.length - 1].seconds : 0)));
  }
}

// Evaluations of all processes; at its end each of them tells those of the whole run.
function sumOf(frames) {
  const ended = frames.filter((frame) => frame.stage === "ended");
  const told = ended.length ? ended.slice(0, 1) : frames;
  return told.reduce((sum, frame) => sum + frame.evaluations, 0);
}

export class Run {
  constructor(key) {
    this.key = key;
    this.logs = [];
    this.version = 0;
    this.cached = new Map();
  }

  get header() {
    return this.logs.map((log) => log.header).find(Boolean) || null;
  }

  get objectives() {
    return this.header ? this.header.objectives : [{ name: "objective", sense: "maximise" }];
  }

  get known() {
    const known = this.header && this.header.known;
    return known && known.length === 1 && isNumber(known[0]) ? known[0] : null;
  }

  get troubles() {
    return this.logs.map((log) => log.trouble).filter(Boolean);
  }

  get hasEnded() {
    return this.logs.length > 0 && this.logs.every((log) => log.end);
  }

  get lastSecond() {
    return Math.max(0, ...this.logs.map((log) => log.lastSecond));
  }

  get silentSeconds() {
    return (Date.now() - Math.max(...this.logs.map((log) => log.heardAt))) / 1000;
  }

  // What is computed from the logs, until they tell more.
  cache(name, compute) {
    const kept = this.cached.get(name);
    if (kept && kept.version === this.version) return kept.value;
    const value = compute();
    this.cached.set(name, { version: this.version, value });
    return value;
  }

  isBetter(one, other) {
    return this.objectives[0].sense === "minimise" ? one < other : one > other;
  }

  isBetterFrame(one, other) {
    if (!other || !other.best) return Boolean(one.best);
    if (!one.best || one.feasible !== other.feasible) return one.feasible && Boolean(one.best);
    return one.feasible ? this.isBetter(one.best[0], other.best[0]) : one.violation < other.violation;
  }

  // The run at a moment: the sums of its processes, the best of them, and their pictures joined.
  at(seconds) {
    const places = this.logs.map((log) => indexAt(log.frames, seconds));
    const frames = this.logs.map((log, k) => log.frames[places[k]]).filter(Boolean);
    const messages = this.logs.flatMap((log) => log.messages.slice(0, indexAt(log.messages, seconds) + 1));
    messages.sort((a, b) => a.seconds - b.seconds);
    const state = { places, messages, frame: null, drawing: null, picture: null, drawnAt: null };
    if (!frames.length) return state;
    let bestLog = null;
    let best = null;
    this.logs.forEach((log, k) => {
      const frame = log.frames[places[k]];
      if (frame && (best === null || this.isBetterFrame(frame, best))) [best, bestLog] = [frame, log];
    });
    state.frame = {
      ...best,
      seconds: Math.max(...frames.map((frame) => frame.seconds)),
      iterations: Math.max(...frames.map((frame) => frame.iterations)),
      evaluations: sumOf(frames),
      stage: frames.every((frame) => frame.stage === "ended") ? "ended" : best.stage,
    };
    const value = this.objectives.length === 1 ? this.bestAt(seconds) : null; // traces are finer than frames
    if (isNumber(value) && best.feasible && this.isBetter(value, best.best[0])) state.frame.best = [value];
    const drawn = indexAt(bestLog.drawings, seconds);
    if (drawn >= 0) {
      const { seconds: at, drawing } = bestLog.drawings[drawn];
      state.drawing = drawing; // drawings come less often than better solutions
      if (this.objectives.length === 1 && this.bestAt(at) !== state.frame.best?.[0]) state.drawnAt = at;
    }
    state.picture = joinPictures(frames.map((frame) => frame.picture).filter(Boolean));
    return state;
  }

  // Moments at which something changed.
  get moments() {
    return this.cache("moments", () => {
      const all = this.logs.flatMap((log) => log.frames.map((frame) => frame.seconds));
      return this.logs.length > 1 ? all.sort((a, b) => a - b) : all;
    });
  }

  // How the best objective, or the size of the front, went on: [seconds, value], values null while there is none.
  get series() {
    return this.cache("series", () => {
      const told = this.logs.flatMap((log) => log.frames);
      if (told.some((frame) => frame.picture && frame.picture.type === "front")) {
        const fronts = told.filter((frame) => frame.picture && frame.picture.type === "front");
        return { name: "solutions in the front", points: fronts.map((frame) => [frame.seconds, frame.picture.size]) };
      }
      const points = told.map((frame) => [frame.seconds, frame.feasible && frame.best ? frame.best[0] : null]);
      for (const log of this.logs) {
        for (const [, seconds, value] of log.end ? log.end.trace : []) {
          if (isNumber(seconds)) points.push([seconds, value]);
        }
      }
      points.sort((a, b) => a[0] - b[0]);
      let best = null;
      const found = [];
      for (const [seconds, value] of points) {
        if (isNumber(value) && (best === null || this.isBetter(value, best))) best = value;
        found.push([seconds, best]);
      }
      return { name: this.objectives[0].name, points: found };
    });
  }

  // The best objective, or the size of the front, at a moment.
  bestAt(seconds) {
    const { points } = this.series;
    const place = indexAt(points, seconds, (point) => point[0]);
    return place >= 0 ? points[place][1] : null;
  }

  // Frames with a picture of one kind up to a moment, of all processes.
  pictured(type, seconds) {
    const all = this.cache(`pictured ${type}`, () => {
      const found = this.logs.flatMap((log) => log.frames.filter((frame) => frame.picture && frame.picture.type === type));
      return found.sort((a, b) => a.seconds - b.seconds);
    });
    return { all, count: indexAt(all, seconds) + 1 };
  }
}

// Demes of the other processes are null in each picture.
function joinPictures(pictures) {
  const [first] = pictures;
  if (!first || first.type !== "demes" || pictures.length === 1) return first || null;
  const alike = pictures.filter((picture) => picture.type === "demes" && picture.best.length === first.best.length);
  const pick = (name) => first.best.map((_, k) => alike.map((picture) => picture[name][k]).find(isNumber) ?? null);
  return { ...first, best: pick("best"), iterations: pick("iterations") };
}

// Logs into runs: those with the same id and more than one process are one.
export function joinLogs(logs, before) {
  const groups = new Map();
  for (const log of logs) {
    const key = log.header && log.header.ranks > 1 ? `job ${log.header.id}` : log.key;
    groups.set(key, [...(groups.get(key) || []), log]);
  }
  const runs = new Map();
  for (const [key, members] of groups) {
    const run = before.get(key) || new Run(key);
    run.logs = members.sort((a, b) => (a.header ? a.header.rank : 0) - (b.header ? b.header.rank : 0));
    runs.set(key, run);
  }
  return runs;
}
