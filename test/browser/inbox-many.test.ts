import { expect, test } from "vitest";
import { useBrowser } from "../support/browser/browser.ts";
import { type InboxPage, openInbox } from "../support/browser/inbox-page.ts";
import { type InboxServer, startInboxServer } from "../support/browser/inbox-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const MANY = 10_000;
const FRAMES = 240;
const STEP_PX = 2_800;

/** Scrolls the list through all of it, counts what is drawn for each frame, and whether anything jumps. */
const SCROLL = `(async () => {
  const list = document.querySelector(".list-scroll");
  let shift = 0;
  new PerformanceObserver((seen) => {
    for (const { value } of seen.getEntries()) shift += value;
  }).observe({ type: "layout-shift" });
  let drawn = 0;
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) drawn += addedNodes.length;
  }).observe(list, { childList: true, subtree: true });
  for (let frame = 0; frame < ${FRAMES}; frame += 1) {
    list.scrollTop += ${STEP_PX};
    await new Promise((next) => requestAnimationFrame(next));
  }
  return { drawn, shift, rows: document.querySelectorAll(".row-item").length };
})()`;

/** A page whose server lists so many. */
async function openMany(server: InboxServer): Promise<InboxPage> {
  const [id = ""] = await server.ask("ana", { name: "tag", args: { name: "blue" } });
  const one = await server.look(id);
  const can = { decide: true, amend: false, cancel: true };
  let told = 0;
  const inbox = await openInbox(resources, {
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
  await inbox.page.getByText(`${MANY.toLocaleString("en")} waiting`).waitFor();
  return inbox;
}

test("of ten thousand rows only those in sight are drawn, and nothing jumps", async () => {
  const { page } = await openMany(await startInboxServer(resources));
  const { drawn, shift, rows } = await page.evaluate<{
    readonly drawn: number;
    readonly shift: number;
    readonly rows: number;
  }>(SCROLL);
  expect({ shift, isSmall: rows < 60 }).toEqual({ shift: 0, isSmall: true });
  // Each frame draws what is in sight and no more; how fast that is, bench/web.ts says.
  expect(drawn / FRAMES).toBeLessThan(60);
  expect(drawn).toBeGreaterThan(FRAMES);
});

test("of ten thousand, a hundred can be reviewed at once", async () => {
  const server = await startInboxServer(resources);
  const { page, button } = await openMany(server);
  await page.keyboard.press("x");
  await button("Select the first 100").click();
  await page.getByText("100 selected").waitFor();
  await page.evaluate(`document.querySelector(".list-scroll").scrollTop = 68 * 300`);
  await page.locator(".row-item[aria-posinset='301'] input").click({ modifiers: ["Shift"] });
  await page.getByText(/^\d+ selected, at most 100$/).waitFor();
  expect(await button("Review…").getAttribute("aria-disabled")).toBe("true");
  await button("Clear").click();
  await page.keyboard.press("x");
  await button("Select the first 100").click();
  await button("Review…").click();
  await page.getByRole("dialog", { name: "Review 100" }).waitFor();
});
