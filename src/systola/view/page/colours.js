// A map from 0..1 to colours whose lightness grows evenly from dark blue to light yellow, so that it reads without
// colour vision and in print. Computed in OKLCH (Ottosson, "A perceptual color space for image processing", 2020).

const STEPS = 256;

function toRgb(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

const encode = (x) => Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));

function colourOf(part) {
  const lightness = 0.24 + 0.68 * part;
  const hue = 292 - 188 * part ** 1.15;
  let chroma = 0.11 + 0.06 * part;
  let rgb = toRgb(lightness, chroma, hue);
  while (chroma > 0 && rgb.some((x) => x < 0 || x > 1)) {
    chroma -= 0.004; // less colour until a screen can show it
    rgb = toRgb(lightness, chroma, hue);
  }
  return rgb.map((x) => encode(Math.min(Math.max(x, 0), 1)));
}

export const MAP = Array.from({ length: STEPS }, (_, k) => colourOf(k / (STEPS - 1)));

export const lookUp = (part) => MAP[Math.round(Math.min(Math.max(part, 0), 1) * (STEPS - 1))];

export const asText = ([r, g, b]) => `rgb(${r}, ${g}, ${b})`;

// Where a value lies between two others; all equal is the middle.
export const partOf = (value, low, high) => (high > low ? (value - low) / (high - low) : 0.5);
