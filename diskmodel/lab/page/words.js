// Formatting of numbers, and a helper that creates elements.

export function bytes(n) {
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) if (n >= size) return `${n / size} ${unit}`;
  return `${n} B`;
}
export const percent = (x) => `${Math.round(100 * x)} %`;

/** A number with three significant digits, or all digits before the decimal point. */
export function figure(x) {
  if (x === null || x === undefined) return "unknown";
  if (x === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(x))));
  return Number(x.toFixed(Math.min(digits, 6))).toLocaleString("en", { maximumFractionDigits: 6 });
}
/** What is said of figures of drives that are taken to be as they are described: the page does not know how these differ. */
export const AS_DESCRIBED = "if drives are as described";

/** A number of things, one or several. */
export const counted = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;

/** Create an element with attributes and children. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in made && key !== "list") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** The color of a part of a response, for styles: that of others where the page has none. */
export const colorOfPart = (part) => getComputedStyle(document.documentElement).getPropertyValue(`--${part}`) ? `var(--${part})` : "var(--other)";
