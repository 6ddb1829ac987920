// Numbers for people.

const WHOLE = new Intl.NumberFormat("en-GB");
const REAL = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 6 });
const SHORT = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 3 });

export const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

export function showNumber(value) {
  if (!isNumber(value)) return "–";
  if (Math.abs(value) >= 1e15) return value.toExponential(4);
  return Number.isInteger(value) ? WHOLE.format(value) : REAL.format(value);
}

export const showValues = (values) =>
  !values ? "–" : values.length === 1 ? showNumber(values[0]) : `(${values.map(showNumber).join(", ")})`;

export function showShort(value) {
  if (!isNumber(value)) return "–";
  const [size, unit] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([each]) => Math.abs(value) >= each) || [1, ""];
  return `${SHORT.format(value / size)}${unit}`;
}

export function showTime(seconds) {
  if (!isNumber(seconds)) return "–";
  if (seconds < 10) return `${seconds.toFixed(2)} s`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.floor(seconds);
  const two = (value) => String(value).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
}

// How long ago, roughly.
export function showAge(seconds) {
  const [size, unit] = [[86400, "days"], [3600, "hours"], [60, "minutes"]].find(([each]) => seconds >= 2 * each) || [1, "seconds"];
  return `${showNumber(Math.floor(seconds / size))} ${unit}`;
}

export const showPart = (part) => `${(100 * part).toFixed(part !== 0 && part < 0.001 ? 3 : part < 0.1 ? 2 : 1)} %`;

// Round numbers from low to high, about so many.
export function ticks(low, high, about) {
  if (!(high > low)) return [low];
  const raw = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && found.length < 50; k++) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

// Round moments: in seconds, minutes or hours, whatever the run lasts.
export function timeTicks(high, about) {
  const unit = high >= 7200 ? 3600 : high >= 120 ? 60 : 1;
  const name = { 1: "s", 60: "min", 3600: "h" }[unit];
  return ticks(0, high / unit, about).map((value) => ({ at: value * unit, text: `${showNumber(value)} ${name}` }));
}

export function logTimeTicks(low, high) {
  const found = [];
  for (let power = Math.ceil(Math.log10(low) - 1e-9); 10 ** power <= high * 1.0001; power++) {
    const at = 10 ** power;
    const text = at >= 3600 ? `${showNumber(Math.round(at / 360) / 10)} h` : `${showNumber(Number(at.toPrecision(3)))} s`;
    found.push({ at, text });
  }
  return found;
}
