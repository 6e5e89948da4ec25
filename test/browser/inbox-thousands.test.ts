import { expect, test } from "vitest";
import { loadPending } from "../../bench/bulk-load.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { NOW, openFixedTimePage, startFixedTimeServer } from "../support/browser/fixed-time-inbox.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { isPictured, lookAt, SIZES } from "../support/browser/look.ts";
import { effort } from "../support/effort.ts";
import { FULL } from "../support/ledger/full-session.ts";
import { useResources } from "../support/resources.ts";

// A real ledger in which thousands wait.

const resources = useResources();
const newPage = useBrowser();

const ALL = 10_000;
/** The pictures are of all of them, as the documentation says. */
const MANY = isPictured ? ALL : effort({ short: 3_000, long: ALL });
const told = (count: number): string => count.toLocaleString("en");
const PAGE = 200;
const LONG_MS = 300_000;
const KEPT = {
  "thousands-desktop-light": "inbox-thousands.png",
  "thousands-list-phone-dark": "inbox-thousands-phone.png",
};

test(`${told(MANY)} that wait are listed once, page by page, whatever is then done with them`, {
  timeout: LONG_MS,
}, async () => {
  const server = await startInboxServer(resources, { fill: (file) => loadPending(file, MANY) });
  const asked: string[] = [];
  const { page, card, button, sendNow } = await openInbox(resources, {
    newPage,
    url: server.url,
    prepare: async (loading) => {
      loading.on("request", (request) => asked.push(request.url()));
    },
  });
  const lists = (): number => asked.filter((url) => url.includes("/v1/confirmations?")).length;
  await page.getByText(`${told(MANY)} waiting`).waitFor({ timeout: LONG_MS });
  await expect.poll(() => page.locator(".tab-inbox").innerText()).toContain(`${MANY / 1_000}k`);
  // Each full page, perhaps an empty one, and the outcomes that are unknown.
  await expect.poll(lists).toBeGreaterThan(MANY / PAGE);
  expect(lists()).toBeLessThanOrEqual(MANY / PAGE + 2);
  const before = lists();

  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.locator("#search").fill("user-77");
  await page.getByText(/^\d+ found/).waitFor();
  await page.locator("#search").fill("");
  await page.getByLabel("Tool", { exact: true }).selectOption(FULL.rareTool);
  await page.getByText(new RegExp(`^${MANY / 1_000} found`)).waitFor();
  await button("Clear").click();
  await page.getByText(`${told(MANY)} waiting`).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("user-2998");
  await page.locator("#palette > [role=option]", { hasText: "user-2998" }).first().waitFor();
  await page.keyboard.press("Enter");
  await card.getByText("user-2998").first().waitFor();
  await page.keyboard.press("x");
  await button("Select the first 100").click();
  await button("Review…").click();
  await page.getByRole("dialog", { name: "Review 100 requests" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("100 selected").waitFor();
  await button("Clear").click();
  const id = decodeURIComponent(new URL(page.url()).hash.split("/").at(-1) ?? "");
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .click();
  await sendNow();
  await expect.poll(async () => (await server.look(id)).status).not.toBe("requested");
  await page.getByText(`${told(MANY - 1)} waiting`).waitFor();
  await page.goto(`${server.url}/#/history`);
  await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
  // One page of the history.
  expect(lists()).toBe(before + 1);
});

test("of thousands of one's own requests, fifty are shown until more are wanted", {
  timeout: LONG_MS,
}, async () => {
  const server = await startInboxServer(resources, {
    mode: "tokens",
    fill: (file) => loadPending(file, MANY),
  });
  const { page, button } = await openInbox(resources, { newPage, url: server.url, mayComplain: /401/ });
  await page.getByLabel(/^Token/).fill(await server.tokenFor(FULL.busyUser));
  await button("Log in").click();
  await page.getByText(new RegExp(`^${told(MANY / 4)} waiting`)).waitFor({ timeout: LONG_MS });
  await page.goto(`${server.url}/#/mine`);
  const rows = page.locator("tbody tr");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(50);
  await button("Show more").click();
  await expect.poll(() => rows.count()).toBe(100);
});

test(`${told(MANY)} requests can be read, found and reviewed at every width`, {
  timeout: LONG_MS,
}, async () => {
  const server = await startFixedTimeServer(resources, {
    fill: (file) => loadPending(file, MANY, NOW - 60_000),
  });
  const { page, button } = await openFixedTimePage(resources, { newPage, url: server.url });
  await page.getByText(`${told(MANY)} waiting`).waitFor({ timeout: LONG_MS });
  await page.getByText("What happened").waitFor();
  const faults = [...(await lookAt(page, { state: "thousands", kept: KEPT }))];
  await page.keyboard.press("Control+k");
  await page.keyboard.type("transfer");
  faults.push(...(await lookAt(page, { state: "thousands-palette", sizes: ["phone", "desktop"] })));
  await page.keyboard.press("Escape");
  await page.keyboard.press("x");
  await button("Select the first 100").click();
  await button("Review…").click();
  faults.push(...(await lookAt(page, { state: "thousands-review", sizes: ["phone", "desktop"] })));
  await page.keyboard.press("Escape");
  await button("Clear").click();
  await page.setViewportSize(SIZES.phone);
  await page.getByRole("link", { name: "‹ Inbox" }).click();
  faults.push(...(await lookAt(page, { state: "thousands-list", sizes: ["phone"], kept: KEPT })));
  expect(faults).toEqual([]);
});
