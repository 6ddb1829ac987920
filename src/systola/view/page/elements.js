// Elements of the page. Text goes in as text, never as markup: names in logs may be anything.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  for (const child of children) element.append(child);
  return element;
}

export const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

export const draw = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setShown(element, shown) {
  if (element.hidden === shown) element.hidden = !shown;
}
