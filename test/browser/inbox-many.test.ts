import { expect, test } from "vitest";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const MANY = 10_000;
const FRAMES = 240;

/** Scrolls the list through all of it, and measures how long each frame takes and whether anything jumps. */
const SCROLL = `(async () => {
  const list = document.querySelector(".list-scroll");
  const frames = [];
  let shift = 0;
  new PerformanceObserver((seen) => {
    for (const { value } of seen.getEntries()) shift += value;
  }).observe({ type: "layout-shift" });
  for (let last = performance.now(); frames.length < ${FRAMES}; ) {
    list.scrollTop += 2_800;
    await new Promise((drawn) => requestAnimationFrame(drawn));
    frames.push(performance.now() - last);
    last = performance.now();
  }
  frames.sort((a, b) => a - b);
  return { median: frames[${FRAMES / 2}], shift, rows: document.querySelectorAll(".row-item").length };
})()`;

test("ten thousand rows scroll smoothly, and nothing jumps", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", { name: "tag", args: { name: "blue" } });
  const one = await server.look(id);
  const can = { decide: true, amend: false, cancel: true };
  let told = 0;
  const { page } = await openInbox(resources, {
    newPage,
    url: server.url,
    // There is none of those that are listed.
    mayComplain: /404/,
    prepare: (loading) =>
      loading.route("**/v1/confirmations?status=requested&limit=200*", async (route) => {
        const items = Array.from({ length: 200 }, () => {
          told += 1;
          return { ...one, can, args: { name: `label ${told}` }, id: `adk-${String(told).padStart(6, "0")}` };
        });
        await route.fulfill({ json: told < MANY ? { items, next: String(told) } : { items } });
      }),
  });
  await page.getByText(`${MANY} waiting`).waitFor();
  const { median, shift, rows } = await page.evaluate<{ median: number; shift: number; rows: number }>(
    SCROLL,
  );
  expect({ shift, isSmall: rows < 60 }).toEqual({ shift: 0, isSmall: true });
  // 60 frames a second where the machine has time; a busy one may take twice as long.
  expect(median).toBeLessThan(34);
});
