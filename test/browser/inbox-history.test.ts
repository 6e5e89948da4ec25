import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { useBrowser } from "../support/browser.ts";
import { openInbox } from "../support/inbox-page.ts";
import { openOffice } from "../support/office.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const LUNCH = { name: "reimburse", args: { amount: 2500, purpose: "lunch" } };

test("history tells who decided what, is searched on the server, and is exported without formulas", async () => {
  const office = await openOffice(resources);
  const [yes = ""] = await office.ask("=cmd|' /C calc'!A0", LUNCH);
  const [no = ""] = await office.ask("ben", { name: "tag", args: { name: "blue" } });
  await (await office.runner.approve(yes, { by: { id: "boss" } })).finished;
  await office.runner.deny(no, { by: { id: "boss" }, reason: "+1 for no" });
  const { page, button } = await openInbox(resources, { newPage, url: office.url, path: "#/history" });
  const rows = page.locator("tbody tr");
  await expect.poll(() => rows.count()).toBe(2);
  expect(await page.locator("tbody").innerText()).toContain("boss");
  await page.getByLabel("State").selectOption("denied");
  await expect.poll(() => rows.count()).toBe(1);
  expect(await rows.first().innerText()).toContain("“+1 for no”");
  await page.getByLabel("State").selectOption("");
  await page.getByLabel("Search").fill("lunch");
  await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining("reimburse")]);
  await page.getByLabel("Search").fill("");
  await expect.poll(() => rows.count()).toBe(2);
  const [csv] = await Promise.all([page.waitForEvent("download"), button("Export CSV").click()]);
  const text = await readFile(await csv.path(), "utf8");
  expect(text.split("\r\n")).toHaveLength(4);
  expect(text).toContain(`"'=cmd|' /C calc'!A0"`);
  expect(text).toContain(`"'+1 for no"`);
  const [json] = await Promise.all([page.waitForEvent("download"), button("Export JSON").click()]);
  const items: unknown = JSON.parse(await readFile(await json.path(), "utf8"));
  expect(items).toHaveLength(2);
  await rows.getByRole("link", { name: "reimburse" }).click();
  await page.locator("article.card").getByText("Approved by boss").waitFor();
});

test("an unknown outcome is shown with what is known of it, and settled by a person", async () => {
  const office = await openOffice(resources);
  const [id = ""] = await office.ask("ana", { name: "explode", args: { amount: 7 } });
  const { page, open, button, card, sendNow } = await openInbox(resources, { newPage, url: office.url });
  await open(id);
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .click();
  await sendNow();
  await card.getByText("It was started, and how it ended is not known").waitFor();
  await expect.poll(() => page.locator(".tab-count").allInnerTexts()).toEqual(["1"]);
  await page.getByRole("link", { name: /^Unknown/ }).click();
  await page.getByRole("link", { name: "explode" }).click();
  await page.getByLabel("It happened").check();
  await page.getByLabel(/^What came back/).fill(`{"receipt": 42}`);
  await button("Settle").click();
  await card.locator(".card-head").getByText("Approved, done").waitFor();
  expect((await office.look(id)).result).toEqual({ receipt: 42 });
});

test("a call that nobody was asked about and whose outcome is unknown is settled too", async () => {
  const office = await openOffice(resources);
  const turn = await office.runner.send(JSON.stringify([{ name: "vanish", args: { amount: 3 } }]), {
    user: "ana",
  });
  const [lost] = turn.unknown;
  const { page, button } = await openInbox(resources, { newPage, url: office.url, path: "#/unknown" });
  await page.getByRole("heading", { name: "vanish" }).waitFor();
  await button("Settle").click({ force: true });
  await page.getByLabel(/give up/).check();
  await page.getByLabel(/^What went wrong/).fill("it never arrived");
  await button("Settle").click();
  await page.getByText("Every outcome is known").waitFor();
  const [call] = await office.engine.ledger.calls([lost?.call ?? ""]);
  expect(call).toMatchObject({ status: "failed" });
  expect(JSON.stringify(call?.result)).toContain("it never arrived");
});
