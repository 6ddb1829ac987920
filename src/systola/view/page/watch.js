// The page: news from the server become logs, logs become runs, and each run has a panel.

import { setShown, write } from "./elements.js";
import { Panel } from "./panel.js";
import { joinLogs, Log } from "./runs.js";
import { Time } from "./time.js";

const TELL_EVERY = 10000; // milliseconds between two sentences for screen readers

const place = document.getElementById("runs");
const empty = document.getElementById("empty");
const connection = document.getElementById("connection");
const summary = document.getElementById("summary");

const logs = new Map();
const panels = new Map();
let runs = new Map();
let isScheduled = false;
let toldAt = 0;
let hadEnded = "";

const time = new Time(schedule);

function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    for (const panel of panels.values()) panel.update(time.shown, time.options);
  });
}

function onNews(news) {
  const changed = new Set();
  for (const told of news) {
    if (told.gone) {
      logs.delete(told.log);
      continue;
    }
    if (!logs.has(told.log)) logs.set(told.log, new Log(told.log));
    logs.get(told.log).add(told);
    changed.add(told.log);
  }
  runs = joinLogs(logs.values(), runs);
  for (const run of runs.values()) {
    if (run.logs.some((log) => changed.has(log.key))) run.version += 1;
  }
  arrange();
  const all = [...runs.values()];
  const firsts = all.map((run) => run.moments.find((at) => at > 0)).filter((at) => at !== undefined);
  const last = Math.max(0, ...all.map((run) => run.lastSecond));
  time.setExtent(firsts.length ? Math.min(...firsts) : 0.01, last, () => all.flatMap((run) => run.moments).sort((a, b) => a - b));
  schedule();
  tell();
}

// A panel for each run, in the order in which they began.
function arrange() {
  for (const [key, panel] of panels) {
    if (!runs.has(key)) {
      panel.element.remove();
      panels.delete(key);
    }
  }
  for (const [key, run] of runs) if (!panels.has(key)) panels.set(key, new Panel(run));
  const order = (run) => [run.header ? run.header.started : "~", run.logs[0].name].join(" ");
  const wanted = [...runs.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1)).map((run) => panels.get(run.key).element);
  const there = [...place.querySelectorAll(":scope > .run")];
  if (wanted.some((element, k) => element !== there[k])) place.append(...wanted);
  setShown(empty, wanted.length === 0);
  place.dataset.count = wanted.length;
}

function tell() {
  const ended = [...runs.values()].filter((run) => run.hasEnded).map((run) => run.key).join();
  const isNews = ended !== hadEnded || Date.now() - toldAt >= TELL_EVERY;
  if (!isNews || !panels.size) return;
  hadEnded = ended;
  toldAt = Date.now();
  requestAnimationFrame(() => {
    const sentences = [...panels.values()].slice(0, 4).map((panel) => panel.sentence);
    if (panels.size > 4) sentences.push(`${panels.size} runs in all.`);
    write(summary, sentences.join(" "));
    const first = panels.values().next().value;
    document.title = panels.size === 1 ? `${first.best.textContent} · ${first.title.textContent} · systola` : `${panels.size} runs · systola`;
  });
}

function say(state, text) {
  connection.dataset.state = state;
  write(connection, text);
}

function connect() {
  const source = new EventSource("events");
  let isOver = false;
  source.addEventListener("open", () => {
    isOver = false;
    say("open", "connected");
  });
  source.addEventListener("news", (event) => onNews(JSON.parse(event.data)));
  source.addEventListener("bye", () => {
    isOver = true;
    say("lost", "the server has ended; what has come can be replayed");
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) say("lost", "the server does not know this address any more; open its new one");
    else if (!isOver) say("lost", "the connection is lost; trying again");
  });
}

connect();
setInterval(() => {
  if (time.isLive) schedule(); // states tell how long there was no news
}, 5000);
