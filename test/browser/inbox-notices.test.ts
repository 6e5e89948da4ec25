import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openNotices } from "../../src/engine/index.ts";
import type { Scope } from "../../src/http/index.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { type InboxPage, openInbox } from "../support/browser/inbox-page.ts";
import { type InboxServer, startInboxServer } from "../support/browser/inbox-server.ts";
import { lookAt } from "../support/browser/look.ts";
import { storeNotice } from "../support/ledger/store-notice.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const TRIP = { name: "reimburse", args: { amount: 2500, purpose: "Lisbon" } };
const DETAILS = { session: "s-secret", calls: ["c-secret"], tool: `wipe<b>${"x".repeat(300)}` };
const LONG_MS = 120_000;
/** More than passes between two looks of a page. */
const NEXT_LOOK_MS = 16_000;

async function openAs(server: InboxServer, user: string, scopes: readonly Scope[]): Promise<InboxPage> {
  const token = await server.tokenFor(user, { scopes });
  const prepare = async (page: Page): Promise<void> => {
    await page.clock.install();
    const answer = await page.request.post(`${server.url}/auth/login`, { data: { token } });
    const { proof } = (await answer.json()) as { readonly proof: string };
    await page.addInitScript(`localStorage.setItem("countersign.proof", ${JSON.stringify(proof)})`);
  };
  return openInbox(resources, { newPage, url: server.url, prepare });
}

test("people who may decide see a loss without a reload, and an administrator hides it", {
  timeout: LONG_MS,
}, async () => {
  const server = await startInboxServer(resources, { mode: "tokens" });
  await server.ask("ana", TRIP);
  const ana = await openAs(server, "ana", ["read", "decide"]);
  const root = await openAs(server, "root", ["read", "decide", "admin"]);
  const watcher = await openAs(server, "ana", ["read"]);
  await ana.rows.first().waitFor();
  await root.page.getByText("Live").waitFor();
  expect(await ana.page.getByRole("alert").count()).toBe(0);
  const id = await storeNotice(server.engine.ledger.items, { details: DETAILS });
  const told = ana.page.getByRole("alert");
  await ana.page.clock.fastForward(NEXT_LOOK_MS);
  await told.waitFor();
  expect(await told.innerText()).toContain("The database lost stored records");
  expect(await told.innerText()).toContain("check that it was not already done");
  expect(await told.innerText()).not.toContain("secret");
  expect(await told.getByRole("button").count()).toBe(0);
  const shown = root.page.getByRole("alert");
  await root.page.clock.fastForward(NEXT_LOOK_MS);
  await shown.waitFor();
  await shown.getByText("countersign notices list").click();
  expect(await shown.innerText()).toContain("c-secret");
  expect(await lookAt(root.page, { state: "notice-admin" })).toEqual([]);
  expect(await lookAt(ana.page, { state: "notice-person" })).toEqual([]);
  await shown.getByRole("button", { name: "hide it for everyone" }).click();
  await shown.waitFor({ state: "detached" });
  await ana.page.clock.fastForward(NEXT_LOOK_MS);
  await told.waitFor({ state: "detached" });
  expect(await openNotices(server.engine.ledger.items)).toEqual([]);
  expect(await server.engine.ledger.items.get("ledger-notice", id)).toMatchObject({
    value: { acknowledged: { by: "root" } },
  });
  expect(await watcher.page.getByRole("alert").count()).toBe(0);
});
