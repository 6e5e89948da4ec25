import type { Page } from "playwright-core";

/** Also what moves right after a key or a click: here nobody presses any. */
const WATCH = `(() => {
  const moved = [];
  const named = (node) => node instanceof Element ? node.tagName.toLowerCase() + [...node.classList].map((part) => "." + part).join("") : "text";
  // What keeps its place at one side has other words now, and has not moved.
  const grew = (from, to) =>
    (from.left === to.left || from.right === to.right) && (from.top === to.top || from.bottom === to.bottom);
  const note = (entries) => {
    for (const { value, sources } of entries)
      for (const { node, previousRect: from, currentRect: to } of sources)
        if (node !== null && !grew(from, to)) moved.push(named(node) + " from " + [from.x, from.y] + " to " + [to.x, to.y] + " (" + value.toFixed(4) + ")");
  };
  const observer = new PerformanceObserver((seen) => note(seen.getEntries()));
  observer.observe({ type: "layout-shift" });
  window.movedSoFar = async () => {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    note(observer.takeRecords());
    observer.disconnect();
    return moved;
  };
})()`;

/** From now on watches what changes its place on the page. Gives a function that tells it, and ends the watch. */
export async function watchShifts(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(WATCH);
  return () => page.evaluate("window.movedSoFar()");
}
