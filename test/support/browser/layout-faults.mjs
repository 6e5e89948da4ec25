// Runs in the page: plain JavaScript, sent there as it is.

/**
 * What is wrong with how the page lies there, a line each. It measures boxes and compares them with each other, so that
 * another machine's fonts change nothing.
 */
export function layoutFaults({ touch }) {
  const scope = document.querySelector("dialog[open]") ?? document.body;
  const elements = [...scope.querySelectorAll("*")].filter(isShown);
  const controls = elements.filter((element) =>
    element.matches("a[href], button, input, select, textarea, summary"),
  );
  const lines = elements.flatMap(linesOf);
  const faults = [
    ...tooWide(elements),
    ...outOfReach(controls),
    ...(touch ? tooSmall(controls) : []),
    ...cutOff(lines, scope),
    ...overlapping(lines),
    ...(scope === document.body ? landmarks() : []),
  ];
  return [...new Set(faults)];
}

function isShown(element) {
  return element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true }) && !isClipped(element);
}

/** There for those who listen, and for nobody's eyes. */
function isClipped(element) {
  for (let around = element; around !== null; around = around.parentElement)
    if (getComputedStyle(around).clipPath !== "none") return true;
  return false;
}

function named(element) {
  const classes = [...element.classList].map((part) => `.${part}`).join("");
  return `${element.tagName.toLowerCase()}${classes} “${(element.textContent ?? "").trim().slice(0, 40)}”`;
}

function tooWide(elements) {
  const { scrollWidth, clientWidth } = document.documentElement;
  const faults = elements.filter(scrollsSideways).map((element) => `scrolls sideways: ${named(element)}`);
  return scrollWidth > clientWidth
    ? [`the page is ${scrollWidth} wide, its window ${clientWidth}`, ...faults]
    : faults;
}

function scrollsSideways(element) {
  const { overflowX, overflowY } = getComputedStyle(element);
  if (element.matches("textarea") || isPhonesTabs(element) || overflowX === "hidden") return false;
  const isScroller = overflowY === "auto" || overflowY === "scroll";
  return isScroller && element.scrollWidth > element.clientWidth + 1;
}

/** On a phone, the pages may be more than fit. */
function isPhonesTabs(element) {
  return innerWidth < 480 && element.closest(".tabs") !== null;
}

/** A checkbox is pressed anywhere on its label. */
function areaOf(control) {
  const label = control.matches("input") ? control.closest("label") : null;
  return (label ?? control).getBoundingClientRect();
}

/** Wherever one has scrolled to, these are in sight. */
const AT_HAND = ".card-foot, .composer, .bar, .held-bar, .toasts";

function outOfReach(controls) {
  return controls
    .filter((control) => !isPhonesTabs(control))
    .filter((control) => {
      const { left, right, top, bottom } = areaOf(control);
      const isBeside = left < -0.5 || right > innerWidth + 0.5;
      return isBeside || (control.closest(AT_HAND) !== null && (top < -0.5 || bottom > innerHeight + 0.5));
    })
    .map((control) => `out of reach: ${named(control)}`);
}

/** A link in a line of text is as high as its line. */
function tooSmall(controls) {
  return controls
    .filter((control) => !(control.matches("a") && getComputedStyle(control).display === "inline"))
    .map((control) => ({ control, area: areaOf(control) }))
    .filter(({ area: { width, height } }) => width < 43.5 || height < 43.5)
    .map(({ control, area: { width, height } }) => {
      const size = `${Math.round(width)} × ${Math.round(height)}`;
      return `too small for a finger, ${size}: ${named(control)}`;
    });
}

/** The lines of an element's own text: where they are, and what of them can be seen. */
function linesOf(element) {
  const texts = [...element.childNodes].filter(
    (node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "",
  );
  return texts.flatMap((text) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    return [...range.getClientRects()].map((whole) => ({ element, whole, seen: seenOf(whole, element) }));
  });
}

function seenOf(box, element) {
  let { left, top, right, bottom } = box;
  for (let around = element; around !== null && around !== document.body; around = around.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(around);
    if (overflowX === "visible" && overflowY === "visible") continue;
    const edge = around.getBoundingClientRect();
    left = Math.max(left, edge.left);
    right = Math.min(right, edge.right);
    top = Math.max(top, edge.top);
    bottom = Math.min(bottom, edge.bottom);
  }
  return { left, top: Math.max(0, top), right, bottom: Math.min(innerHeight, bottom) };
}

/** Here a text may not even end in dots. */
const WHOLE = "button, h1, h2, h3, label, dt, dd, th, td, .badge";

function cutOff(lines, scope) {
  return lines
    .filter(({ element, whole }) => {
      for (let around = element; around !== null && around !== scope; around = around.parentElement) {
        if (isCutBy(whole, around)) return true;
        if (endsInDots(around)) return false;
      }
      return false;
    })
    .map(({ element }) => `cut off: ${named(element)}`);
}

function endsInDots(element) {
  return getComputedStyle(element).textOverflow === "ellipsis" && element.closest(WHOLE) === null;
}

/** Of several lines, the last one that is shown ends in dots. */
function isClamped(element) {
  return getComputedStyle(element).webkitLineClamp !== "none" && element.closest(WHOLE) === null;
}

function isCutBy(line, around) {
  const { overflowX, overflowY } = getComputedStyle(around);
  const edge = around.getBoundingClientRect();
  const isShort = overflowX === "hidden" && (line.right > edge.right + 1 || line.left < edge.left - 1);
  // Letters stand a little closer than the boxes of their lines are high.
  const isLow = overflowY === "hidden" && (line.bottom > edge.bottom + 4 || line.top < edge.top - 4);
  return (isShort && !endsInDots(around)) || (isLow && !isClamped(around));
}

function overlapping(lines) {
  const seen = lines.filter(
    ({ element, seen: { left, top, right, bottom } }) =>
      right - left > 2 && bottom - top > 2 && element.closest(".toasts, .held-bar") === null,
  );
  return seen.flatMap((first, index) =>
    seen
      .slice(index + 1)
      .filter((second) => first.element !== second.element && isOver(first.seen, second.seen))
      .map((second) => `one over the other: ${named(first.element)} and ${named(second.element)}`),
  );
}

function isOver(first, second) {
  const across = Math.min(first.right, second.right) - Math.max(first.left, second.left);
  const down = Math.min(first.bottom, second.bottom) - Math.max(first.top, second.top);
  return across > 2 && down > 6;
}

function landmarks() {
  return ["main", "header.bar", "h1"]
    .map((selector) => ({
      selector,
      count: [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility()).length,
    }))
    .filter(({ count }) => count !== 1)
    .map(({ selector, count }) => `${count} of ${selector}`);
}
