// Runs in the page: plain JavaScript, sent there as it is.

/** States that are shown by more than their colour. */
const STATES = [
  "aria-current",
  "aria-selected",
  "aria-pressed",
  "aria-sort",
  "aria-invalid",
  "aria-disabled",
];
const OFF = new Set([null, "false", "none"]);

/**
 * What cannot be seen where the reader's own few colours replace the page's, a line each: where the focus is, and which
 * one of several is the open, chosen, pressed, wrong or disabled one.
 */
export function forcedColourFaults() {
  if (!matchMedia("(forced-colors: active)").matches) return ["colours are not forced"];
  const scope = document.querySelector("dialog[open]") ?? document.body;
  const elements = [...scope.querySelectorAll("*")].filter((element) =>
    element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true }),
  );
  return [...new Set([...withoutFocus(elements), ...colourAlone(elements)])];
}

function named(element) {
  const classes = [...element.classList].map((part) => `.${part}`).join("");
  return `${element.tagName.toLowerCase()}${classes} “${(element.textContent ?? "").trim().slice(0, 40)}”`;
}

function withoutFocus(elements) {
  const before = document.activeElement;
  const controls = elements.filter((element) =>
    element.matches("a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex='-1'])"),
  );
  const faults = controls.flatMap((control) => {
    control.focus({ preventScroll: true, focusVisible: true });
    if (document.activeElement !== control) return [];
    return edgesOf(control).outline > 0 ? [] : [`the focus cannot be seen: ${named(control)}`];
  });
  document.activeElement?.blur();
  before?.focus({ preventScroll: true });
  return faults;
}

function colourAlone(elements) {
  return STATES.flatMap((attribute) => {
    const has = (element) => !OFF.has(element.getAttribute(attribute));
    return elements.filter(has).flatMap((one) => {
      const [kind = ""] = one.classList;
      // Of the same kind, and not in that state. Where there is none, there is nothing to tell it from.
      const other = elements.find(
        (each) => each.tagName === one.tagName && (each.classList[0] ?? "") === kind && !has(each),
      );
      const isTold = other === undefined || looksOf(one) !== looksOf(other);
      return isTold ? [] : [`${attribute} only by its colour: ${named(one)}`];
    });
  });
}

/** How an element looks, colours aside. */
function looksOf(element) {
  const around = element.closest(".row-item") ?? element;
  return JSON.stringify([...new Set([around, element])].map(edgesOf));
}

function edgesOf(element) {
  const style = getComputedStyle(element);
  const ground = groundOf(element);
  const seen = (width, kind, colour) => (kind === "none" || colour === ground ? 0 : parseFloat(width));
  const sides = ["top", "right", "bottom", "left"].map((side) => {
    const [width, kind, colour] = ["width", "style", "color"].map((part) =>
      style.getPropertyValue(`border-${side}-${part}`),
    );
    return `${seen(width, kind, colour)} ${kind}`;
  });
  const { content } = getComputedStyle(element, "::after");
  return {
    outline: seen(style.outlineWidth, style.outlineStyle, style.outlineColor),
    sides,
    ground,
    line: style.textDecorationLine,
    content,
  };
}

function groundOf(element) {
  for (let around = element; around !== null; around = around.parentElement) {
    const { backgroundColor } = getComputedStyle(around);
    if (!/, 0\)$|^transparent$/.test(backgroundColor)) return backgroundColor;
  }
  return "rgb(255, 255, 255)";
}
