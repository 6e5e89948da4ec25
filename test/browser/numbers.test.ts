import { expect, test } from "vitest";
import { ManualClock } from "../../src/engine/index.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { openFixedTimePage } from "../support/browser/fixed-time-inbox.ts";
import { type InboxServer, startInboxServer } from "../support/browser/inbox-server.ts";
import { lookAt } from "../support/browser/look.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NOW = Date.UTC(2026, 10, 16, 9, 30);
const KEPT = { "numbers-desktop-light": "numbers.png" };

/** A month of decisions: how long each took grows and shrinks, a few are denied, and some wait. */
async function startMonth(): Promise<InboxServer> {
  const clock = new ManualClock(NOW - 32 * DAY);
  let count = 0;
  const server = await startInboxServer(resources, {
    clock,
    ids: () => String(++count).padStart(6, "0"),
  });
  const ask = async (user: string, tool: string, amount: number): Promise<string> =>
    (await server.ask(user, { name: tool, args: { amount, to: "Printer Ltd", purpose: "Taxi" } }))[0] ?? "";
  for (let day = 0; day < 32; day += 1) {
    const [refund, order] = [await ask("ana", "reimburse", day + 1), await ask("ben", "wire_money", day)];
    await clock.advance((2 + (day % 5) * 7) * MINUTE);
    await (await server.runner.approve(refund, { by: { id: day % 3 === 0 ? "grace" : "hugo" } })).finished;
    await clock.advance(45 * MINUTE);
    const by = { id: "ines", roles: ["treasurer"] };
    if (day % 4 === 0) await server.runner.deny(order, { by });
    else await (await server.runner.approve(order, { by })).finished;
    await clock.advance(DAY - (47 + (day % 5) * 7) * MINUTE);
  }
  await ask("cleo", "send_email", 60);
  await clock.advance(9 * 60 * MINUTE);
  await ask("dora", "send_email", 80);
  await clock.advance(20 * MINUTE);
  return server;
}

test("the numbers can be read at every width, light and dark, with and without data", {
  timeout: 300_000,
}, async () => {
  const server = await startMonth();
  const { page, button } = await openFixedTimePage(resources, {
    newPage,
    url: server.url,
    path: "#/numbers",
  });
  await page.getByRole("heading", { name: "Decisions by day" }).waitFor();
  await expect.poll(() => page.locator(".tile-value").allTextContents()).toContain("2");
  await page.getByText("allow-reimburse").waitFor();
  const faults = [...(await lookAt(page, { state: "numbers", kept: KEPT }))];
  await page.getByText("As a table").click();
  await page.locator(".candidate-rule").scrollIntoViewIfNeeded();
  faults.push(...(await lookAt(page, { state: "numbers-end", sizes: ["tablet"] })));
  await button("7 days").click();
  await expect.poll(() => page.locator(".day-chart g").count()).toBe(7);
  expect(faults).toEqual([]);
});

test("somebody without the scope metrics sees their own numbers, and an empty page says what comes", {
  timeout: 300_000,
}, async () => {
  const server = await startInboxServer(resources, { mode: "tokens" });
  const { page, button } = await openFixedTimePage(resources, {
    newPage,
    url: server.url,
    path: "#/numbers",
    mayComplain: /401/,
  });
  await page.getByLabel(/^Token/).fill(await server.tokenFor("ana"));
  await button("Log in").click();
  await page.getByText("No numbers yet").waitFor();
  await page.getByText("Your own decisions").waitFor();
  const faults = await lookAt(page, { state: "numbers-empty" });
  expect(faults).toEqual([]);
});
