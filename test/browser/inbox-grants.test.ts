import { expect, test } from "vitest";
import type { Policy } from "../../src/index.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { lookAt } from "../support/browser/look.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const mayGrant: Policy = ({ tool }) =>
  tool === "reimburse"
    ? {
        outcome: "confirm",
        reason: "payments",
        grants: { forMs: 3_600_000, count: 20, sum: { amount: 500 } },
      }
    : undefined;

const mayGrantAll: Policy = ({ tool }) =>
  tool === "reimburse"
    ? { outcome: "confirm", reason: "payments", grants: { scope: "user", forMs: 3_600_000, count: 20 } }
    : undefined;

const TEA = { name: "reimburse", args: { amount: 7, purpose: "tea" } };

test("a grant is given beside the approval, says exactly what it grants, and is revoked on its page", async () => {
  const inboxServer = await startInboxServer(resources, { policy: mayGrant });
  const [id = ""] = await inboxServer.ask("ana", TEA);
  const { page, open, toEnd, button, sendNow } = await openInbox(resources, {
    newPage,
    url: inboxServer.url,
  });
  await open(id);
  await toEnd();
  await button("Approve and grant…").click();
  const dialog = page.getByRole("dialog", { name: "Approve and grant" });
  const sentence = dialog.locator(".grant-sentence");
  expect(await sentence.innerText()).toMatch(
    /For 1 hour from the approval, up to 20 further calls of reimburse by the agent assistant in the session \S+ run without asking, as long as “amount” adds up to no more than 500\./,
  );
  await dialog.getByLabel(/Further calls/).fill("21");
  expect(await dialog.getByRole("button", { name: "Approve and grant" }).getAttribute("aria-disabled")).toBe(
    "true",
  );
  await dialog.getByLabel(/Further calls/).fill("2");
  await dialog.getByRole("combobox").selectOption("300000");
  expect(await sentence.innerText()).toContain("For 5 minutes from the approval, up to 2 further calls");
  const faults = [...(await lookAt(page, { state: "grant" }))];
  await dialog.getByRole("button", { name: "Approve and grant" }).click();
  await sendNow();
  await expect
    .poll(async () => (await inboxServer.look(id)).decision?.grant)
    .toEqual({ forMs: 300_000, count: 2, sum: { amount: 500 } });

  await page.goto(`${inboxServer.url}/#/grants`);
  const item = page.getByRole("listitem").filter({ hasText: "reimburse" });
  await item.waitFor();
  expect(await item.innerText()).toMatch(/5 minutes · 2 calls · amount up to 500 in sum/);
  expect(await item.innerText()).toMatch(/0 of 2 calls used · amount 0 of 500/);
  faults.push(...(await lookAt(page, { state: "grants" })));
  expect(faults).toEqual([]);
  await item.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("No grants").waitFor();
  expect((await inboxServer.engine.ledger.grants()).items).toEqual([]);
});

test("where the rules allow no grant, there is none to give", async () => {
  const inboxServer = await startInboxServer(resources);
  const [id = ""] = await inboxServer.ask("ana", TEA);
  const { open, toEnd, button } = await openInbox(resources, { newPage, url: inboxServer.url });
  await open(id);
  await toEnd();
  await button(/^Approve/).waitFor();
  expect(await button("Approve and grant…").count()).toBe(0);
});

test("a grant is for all sessions only if the approver chooses that, and is told so before and after", async () => {
  const inboxServer = await startInboxServer(resources, { policy: mayGrantAll });
  const [id = ""] = await inboxServer.ask("ana", TEA);
  const { page, open, toEnd, button, sendNow } = await openInbox(resources, {
    newPage,
    url: inboxServer.url,
  });
  await open(id);
  await toEnd();
  await button("Approve and grant…").click();
  const dialog = page.getByRole("dialog", { name: "Approve and grant" });
  const sentence = dialog.locator(".grant-sentence");
  expect(await sentence.innerText()).toMatch(/by the agent assistant in the session \S+ run without asking/);
  await dialog.getByRole("combobox").first().selectOption("user");
  expect(await sentence.innerText()).toContain(
    "by the agent assistant in any session for ana run without asking",
  );
  const faults = await lookAt(page, { state: "grant-for-all-sessions" });
  expect(faults).toEqual([]);
  await dialog.getByRole("button", { name: "Approve and grant" }).click();
  await sendNow();
  await expect
    .poll(async () => (await inboxServer.look(id)).decision?.grant)
    .toEqual({ scope: "user", forMs: 3_600_000, count: 20 });
  await page.goto(`${inboxServer.url}/#/grants`);
  const item = page.getByRole("listitem").filter({ hasText: "reimburse" });
  await item.waitFor();
  expect(await item.innerText()).toMatch(/1 hour · 20 calls · all sessions/);
  expect(await item.innerText()).toMatch(/all sessions, given in/);
});
