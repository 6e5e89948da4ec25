import { expect, test } from "vitest";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { lookAt } from "../support/browser/look.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

test("somebody lets another person vote for them until a time, sees it, and ends it", async () => {
  const server = await startInboxServer(resources, { mode: "tokens" });
  const { url, engine } = server;
  const { page, button } = await openInbox(resources, {
    newPage,
    url,
    path: "#/delegations",
    mayComplain: /401/,
  });
  await page.getByLabel(/^Token/).fill(await server.tokenFor("ana"));
  await button("Log in").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("No delegations").waitFor();
  const delegate = page.getByRole("button", { name: "Delegate" });
  await delegate.click();
  await page.getByText("Say who votes for you.").waitFor();
  await page.getByLabel("Who votes for you").fill("bob");
  await page.getByLabel("Until").fill("2020-01-01T08:00");
  await delegate.click();
  await page.getByText("The end has passed.").waitFor();
  const day = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  await page.getByLabel("Until").fill(`${day}T08:00`);
  await page.getByLabel("Only these tools").fill("pay*, refund");
  await delegate.click();
  const item = page.getByRole("listitem").filter({ hasText: "bob votes for ana" });
  await item.waitFor();
  expect(await item.innerText()).toContain("questions about the tools pay*, refund");
  expect(await engine.delegations()).toMatchObject([
    { from: "ana", to: "bob", scope: { tool: ["pay*", "refund"] } },
  ]);
  expect(await lookAt(page, { state: "delegations" })).toEqual([]);
  await item.getByRole("button", { name: "End" }).click();
  await page.getByText("No delegations").waitFor();
  expect(await engine.delegations()).toEqual([]);
});

test("a delegate is told for whom they answer, before they do and afterwards", async () => {
  const server = await startInboxServer(resources, {
    mode: "tokens",
    policy: () => ({
      outcome: "confirm",
      reason: "money",
      approvers: { users: ["ana"], notRequester: true },
    }),
  });
  const { url, engine } = server;
  const until = Date.now() + 3_600_000;
  await engine.delegate({ to: "bob", until }, { by: { id: "ana", scopes: ["decide"], authenticated: true } });
  const [id = ""] = await server.ask("rita", { name: "tag", args: { name: "blue" } });
  const { page, button, card, sendNow } = await openInbox(resources, { newPage, url, mayComplain: /401/ });
  await page.getByLabel(/^Token/).fill(await server.tokenFor("bob"));
  await button("Log in").click();
  await card.getByText("You answer for ana, who lets you vote for them.").waitFor();
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .click();
  await sendNow();
  await card.getByText("Approved by bob for ana (api)").first().waitFor();
  expect((await server.look(id)).decision).toMatchObject({ by: { id: "bob" }, for: "ana" });
});
