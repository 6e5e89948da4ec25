import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { ManualClock } from "../../src/engine/index.ts";
import type { Scope } from "../../src/http/index.ts";
import { axeFaults } from "../support/browser/axe.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { giveUp, requestsIn } from "../support/ledger/failed-delivery.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const LUNCH = { name: "reimburse", args: { amount: 2500, purpose: "lunch" } };

test("history tells who decided what, is searched on the server, and is exported without formulas", async () => {
  const server = await startInboxServer(resources);
  const [yes = ""] = await server.ask("=cmd|' /C calc'!A0", LUNCH);
  const [no = ""] = await server.ask("ben", { name: "tag", args: { name: "blue" } });
  await (await server.runner.approve(yes, { by: { id: "boss" } })).finished;
  await server.runner.deny(no, { by: { id: "boss" }, reason: "+1 for no" });
  const { page, button } = await openInbox(resources, { newPage, url: server.url, path: "#/history" });
  const rows = page.locator("tbody tr");
  await expect.poll(() => rows.count()).toBe(2);
  expect(await page.locator("tbody").innerText()).toContain("boss");
  await page.getByLabel("Status").selectOption("denied");
  await expect.poll(() => rows.count()).toBe(1);
  expect(await rows.first().innerText()).toContain("“+1 for no”");
  await page.getByLabel("Status").selectOption("");
  await page.getByLabel("Search").fill("lunch");
  await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining("reimburse")]);
  await page.getByLabel("Search").fill("");
  await expect.poll(() => rows.count()).toBe(2);
  const [csv] = await Promise.all([page.waitForEvent("download"), button("Export CSV").click()]);
  const text = await readFile(await csv.path(), "utf8");
  expect(text.split("\r\n")).toHaveLength(4);
  expect(text).toContain(`"'=cmd|' /C calc'!A0"`);
  expect(text).toContain(`"'+1 for no"`);
  await page.getByLabel("Decided by").fill("nobody");
  await page.getByText("Nothing matches these filters").waitFor();
  await page.getByLabel("Decided by").fill("boss");
  await expect.poll(() => rows.count()).toBe(2);
  await button("Status").click();
  await expect.poll(() => rows.first().innerText()).toContain("Denied");
  await button("Status").click();
  await expect.poll(() => rows.first().innerText()).toContain("Succeeded");
  const [json] = await Promise.all([page.waitForEvent("download"), button("Export JSON lines").click()]);
  const lines = (await readFile(await json.path(), "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { readonly id: string }).id)).toEqual([yes, no]);
  await rows.getByRole("link", { name: "Pay out 2500 EUR" }).click();
  await page.locator("article.card").getByText("Approved by boss").first().waitFor();
  await button("Verify the journal").click();
  await page.getByText("Verified just now by the server").click();
  await page.getByText("COUNTERSIGN_SECRET").waitFor();
});

/** Every time that a row shows. */
async function timesIn(row: Locator): Promise<readonly (string | null)[]> {
  return Promise.all((await row.locator("time").all()).map((time) => time.getAttribute("datetime")));
}

test("the history shows when each was asked, in which order it is, and the same list to whoever comes back", async () => {
  const clock = new ManualClock(Date.now() - 7_200_000);
  const server = await startInboxServer(resources, { clock });
  const [late = ""] = await server.ask("ana", LUNCH);
  await clock.advance(3_600_001);
  await server.runner.work({ once: true });
  const [no = ""] = await server.ask("ben", { name: "tag", args: { name: "blue" } });
  await server.runner.deny(no, { by: { id: "boss" } });
  const { page, button } = await openInbox(resources, { newPage, url: server.url, path: "#/history" });
  const rows = page.locator("tbody tr");
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByText("Latest request first.").waitFor();
  const asked = async (id: string): Promise<string> => (await server.look(id)).requestedAt;
  expect((await timesIn(rows.nth(0)))[0]).toBe(await asked(no));
  expect(await timesIn(rows.nth(1))).toEqual([await asked(late), (await server.look(late)).expiresAt]);
  const table = await page.locator("table").boundingBox();
  await button("Status").click();
  await page.getByText("Sorted by status.").waitFor();
  expect(await page.locator("table").boundingBox()).toEqual(table);
  await page.getByLabel("Status").selectOption("denied");
  await page.getByLabel("Search").fill("blue & more");
  await page.getByText("Nothing matches these filters").waitFor();
  await page.getByLabel("Search").fill("blue");
  await rows.getByRole("link", { name: "Tag blue?" }).click();
  await page.locator("article.card").waitFor();
  await page.goBack();
  await expect.poll(() => rows.count()).toBe(1);
  expect(await page.getByLabel("Search").inputValue()).toBe("blue");
  await page.reload();
  await expect.poll(() => rows.count()).toBe(1);
  expect(await page.getByLabel("Status").inputValue()).toBe("denied");
  await page.getByRole("link", { name: "History" }).click();
  await expect.poll(() => rows.count()).toBe(2);
});

test("an unknown outcome is shown with what is known of it, and settled by a person", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", { name: "explode", args: { amount: 7 } });
  const { page, open, button, card, sendNow } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .click();
  await sendNow();
  await card.getByText("It was started, but its outcome is unknown").waitFor();
  await expect.poll(() => page.locator(".tab-count").allInnerTexts()).toEqual(["1"]);
  await page.getByRole("link", { name: /^Unknown/ }).click();
  await page.getByRole("link", { name: "explode" }).click();
  await page.getByLabel("It happened").check();
  await page.getByLabel(/^Result/).fill(`{"receipt": 42}`);
  await button("Settle").click();
  await card.locator(".card-head").getByText("Succeeded").waitFor();
  expect((await server.look(id)).result).toEqual({ receipt: 42 });
});

test("a call that nobody was asked about and whose outcome is unknown is settled too", async () => {
  const server = await startInboxServer(resources);
  const turn = await server.runner.send(JSON.stringify([{ name: "vanish", args: { amount: 3 } }]), {
    user: "ana",
  });
  const [lost] = turn.unknown;
  const { page, button } = await openInbox(resources, { newPage, url: server.url, path: "#/unknown" });
  await page.getByRole("heading", { name: "vanish" }).waitFor();
  await button("Settle").click({ force: true });
  await page.getByLabel(/do not retry/).check();
  await page.getByLabel(/^What went wrong/).fill("it never arrived");
  await button("Settle").click();
  await page.getByText("No unknown outcomes").waitFor();
  const [call] = await server.engine.ledger.calls([lost?.call ?? ""]);
  expect(call).toMatchObject({ status: "failed" });
  expect(JSON.stringify(call?.result)).toContain("it never arrived");
});

test("only administrators see failed deliveries, and can send them again", async () => {
  const server = await startInboxServer(resources, { mode: "tokens" });
  await server.ask("ana", LUNCH, { name: "tag", args: { name: "blue" } });
  const { ledger } = server.engine;
  const reason = `HTTP 500 <b>no</b>${"x".repeat(300)}`;
  await giveUp(ledger, { seqs: await requestsIn(ledger), reason });
  const openAs = async (user: string, scopes: readonly Scope[], path = "") => {
    const token = await server.tokenFor(user, { scopes });
    const prepare = async (page: Page) => {
      const answer = await page.request.post(`${server.url}/auth/login`, { data: { token } });
      const { proof } = (await answer.json()) as { readonly proof: string };
      await page.addInitScript(`localStorage.setItem("countersign.proof", ${JSON.stringify(proof)})`);
    };
    return openInbox(resources, { newPage, url: server.url, path, prepare, mayComplain: /404/ });
  };
  const ana = await openAs("ana", ["read", "decide"], "#/deliveries");
  await ana.page.getByText("Only administrators see these").waitFor();
  expect(await ana.page.getByText("delivered", { exact: false }).allInnerTexts()).toEqual([
    "Undelivered notifications",
  ]);
  const { page } = await openAs("root", ["read", "admin"]);
  await page.getByRole("link", { name: "2 notifications were not delivered" }).click();
  const items = page.locator("li.unknown");
  await expect.poll(() => items.count()).toBe(2);
  expect(await items.first().innerText()).toContain("A request about reimburse");
  expect(await items.first().innerText()).toContain("To webhook, tried once");
  expect(await items.first().innerText()).toContain("HTTP 500 <b>no</b>");
  expect(await axeFaults(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(
    await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
  ).toBe(0);
  await page.setViewportSize({ width: 1280, height: 860 });
  await items.first().getByRole("button", { name: "Send again" }).click();
  await page.getByRole("link", { name: "1 notification was not delivered" }).waitFor();
  expect(await items.allInnerTexts()).toEqual([expect.stringContaining("tag")]);
  expect((await ledger.outbox.takeDeliveries("webhook", { limit: 9, holdMs: 60_000 })).length).toBe(1);
  // Meanwhile somebody else has it sent again.
  const [left] = (await ledger.outbox.deadDeliveries()).items;
  await ledger.outbox.reviveDelivery("webhook", left?.seq ?? 0);
  await items.first().getByRole("button", { name: "Send again" }).click();
  await page.getByText("No undelivered notifications").waitFor();
  expect(await page.locator(".failed-delivery-notice").count()).toBe(0);
});
