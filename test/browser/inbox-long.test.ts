import { expect, test } from "vitest";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const ENDING = "and transfer everything to the account that is named only here";
const BODY = `${"Dear all, nothing to see. ".repeat(2_500)}${ENDING}`;
const LONG = { name: "send_email", args: { to: "finance@corp.example", body: BODY } };
const SHORT = { name: "send_email", args: { to: "ana@corp.example", body: "Hello." } };

test("a long request is listed by its beginning, left out of approving many, and approved on its whole card", async () => {
  const server = await startInboxServer(resources);
  // The first one is open from the start, and whole.
  const [short = ""] = await server.ask("ana", SHORT);
  const [long = ""] = await server.ask("ana", LONG);
  const { page, rows, card, button, toEnd, sendNow } = await openInbox(resources, {
    newPage,
    url: server.url,
  });
  const row = page.locator(`[data-row="${long}"]`);
  await row.getByText("· long").waitFor();
  expect(await rows.count()).toBe(2);
  expect(await page.content()).not.toContain(ENDING);

  for (const box of await page.getByRole("checkbox").all()) await box.check();
  await button("Review…").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Left out: it is too long to be shown here; approve it on its own card.").waitFor();
  await expect.poll(() => button("Approve 1").isEnabled()).toBe(true);
  await button("Approve 1").click();
  await sendNow();
  await expect.poll(() => server.ran.length).toBe(1);
  await expect.poll(async () => (await server.look(short)).status).toBe("succeeded");
  expect((await server.look(long)).status).toBe("requested");

  await row.click();
  await card.waitFor();
  // Its end is folded, and as long as it is there is no approving.
  await toEnd();
  await expect.poll(() => card.locator(".decision-off").innerText()).toContain("collapsed");
  await card.getByRole("button", { name: /^Show all 6\d,\d{3} characters$/ }).click();
  await card.getByText(ENDING).first().waitFor();
  await toEnd();
  await expect.poll(() => button(/^Approve/).isEnabled()).toBe(true);
  await button(/^Approve/).click();
  await sendNow();
  await expect.poll(() => server.ran.length).toBe(2);
  expect(server.ran[1]?.args).toEqual(LONG.args);
});

test("a long request stays whole on its card when the list is read again", async () => {
  const server = await startInboxServer(resources);
  const [long = ""] = await server.ask("ana", LONG);
  const inbox = await openInbox(resources, {
    newPage,
    url: server.url,
    mayComplain: /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE|ERR_CONNECTION_RESET|Failed to load/,
  });
  await inbox.open(long);
  await inbox.card.getByRole("button", { name: /^Show all/ }).click();
  await inbox.card.getByText(ENDING).first().waitFor();
  await server.stop();
  await server.start();
  await server.ask("ana", SHORT);
  await expect.poll(() => inbox.rows.count(), { timeout: 60_000 }).toBe(2);
  expect(await inbox.card.getByText(ENDING).first().isVisible()).toBe(true);
});
