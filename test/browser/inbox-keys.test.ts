import { expect, test } from "vitest";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const LUNCH = { name: "reimburse", args: { amount: 2500, purpose: "lunch" } };
const MAIL = { name: "send_email", args: { to: "finance@corp.example", body: "many words ".repeat(400) } };

test("everything is done by keys alone: find, read, approve, reject with a reason, undo", async () => {
  const server = await startInboxServer(resources);
  await server.ask("ana", LUNCH);
  await server.ask("ana", MAIL);
  const { page, rows, card, button } = await openInbox(resources, {
    newPage,
    url: server.url,
    prepare: (loading) => loading.clock.install(),
  });
  const focused = (): Promise<string> =>
    page.evaluate(`document.activeElement.innerText || document.activeElement.tagName`);
  const tabTo = async (text: string): Promise<void> => {
    for (let presses = 0; presses < 60; presses += 1) {
      if ((await focused()).startsWith(text)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not lead to ${text}.`);
  };
  await expect.poll(() => rows.count()).toBe(2);
  await page.keyboard.press("/");
  await page.keyboard.type("finance");
  await expect.poll(() => rows.count()).toBe(1);
  await tabTo("Send email to finance@corp.example?");
  await page.keyboard.press("Enter");
  await card.getByRole("heading", { name: "send_email" }).waitFor();
  await card.getByText("Expand the collapsed part of the arguments first.").waitFor();
  await tabTo("Show all");
  await page.keyboard.press("Enter");
  await page.keyboard.press("End");
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  await page.keyboard.press("r");
  await page.keyboard.type("not now");
  await page.keyboard.press("Tab");
  // The page draws itself anew every second, and must not take the focus with it.
  const before = await card.locator(".card-head").innerText();
  await page.clock.runFor(3_000);
  expect([before.length > 0, await focused()]).toEqual([true, "Reject"]);
  await button("Reject").and(page.locator("[aria-disabled=false]")).waitFor();
  await page.clock.pauseAt(Date.now() + 20_000);
  await page.keyboard.press("Enter");
  await button("Undo").waitFor();
  await tabTo("Undo");
  await page.keyboard.press("Enter");
  await button(/^Reject…/).waitFor();
  await page.clock.resume();
  expect(server.ran).toEqual([]);
  await expect.poll(async () => (await page.keyboard.press("a"), button("Undo").count())).toBe(1);
  await tabTo("Send now");
  await page.keyboard.press("Enter");
  await card.locator(".card-head").getByText("Succeeded").waitFor();
  expect(server.ran).toEqual([MAIL]);
});

test("who wants less motion gets none: what is held shows no sweep, what is busy does not pulse", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", { name: "delete_backup", args: { name: "nightly" } });
  const { page, open, button } = await openInbox(resources, {
    newPage,
    url: server.url,
    prepare: (loading) => loading.clock.install(),
  });
  await open(id);
  const hold = button(/^Hold/).and(page.locator("[aria-disabled=false]"));
  await hold.waitFor();
  // However slow this machine is, the button is not held for long enough.
  await page.clock.pauseAt(Date.now() + 20_000);
  const sweep = (): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector(".button-fill")).transitionDuration`);
  for (const [reducedMotion, lasts] of [
    ["no-preference", "1.2s"],
    ["reduce", "0s"],
  ] as const) {
    await page.emulateMedia({ reducedMotion });
    await hold.hover();
    await page.mouse.down();
    await expect.poll(sweep).toBe(lasts);
    await page.mouse.up();
    expect(await button("Undo").count()).toBe(0);
  }
});
