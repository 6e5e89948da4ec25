import { expect, test } from "vitest";
import { useBrowser } from "../support/browser/browser.ts";
import {
  ASK_USER,
  MAIL,
  openFixedTimePage,
  startFixedTimeInbox,
  TRIP,
} from "../support/browser/fixed-time-inbox.ts";
import type { InboxPage, InboxPageOptions } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { keepPicture, lookAt, SIZES } from "../support/browser/look.ts";
import { useResources } from "../support/resources.ts";

// Every main state, at desktop and phone width, light and dark: seen by axe, and measured. Pictures are not compared by
// their pixels, which another machine's fonts change; what makes a picture a bad one is: text that is cut off or lies over
// other text, a page that scrolls sideways, buttons out of reach or too small for a finger. PICTURES names a folder that
// gets them all, to be looked at, and docs/images gets those that are kept.

const resources = useResources();
const newPage = useBrowser();

/** Those that README and docs/design.md show. */
const KEPT: { readonly [name: string]: string } = {
  "card-desktop-light": "inbox.png",
  "card-phone-dark": "inbox-phone.png",
  "diff-desktop-dark": "diff.png",
  "amended-desktop-light": "amended.png",
  "review-desktop-light": "review.png",
  "history-desktop-light": "history.png",
  "chat-pending-desktop-light": "chat.png",
  "empty-phone-light": "empty-phone.png",
  "settling-desktop-light": "settle.png",
  "settled-desktop-light": "settled.png",
  "mine-desktop-light": "mine.png",
  "unknown-page-desktop-light": "unknown.png",
};
const WELL = "can be read and reached, wide and narrow, light and dark";
const LONG_MS = 300_000;

const faults: string[] = [];

/** Everything that was wrong since the last time, so that one run tells of all of it. */
function expectNoFaults(): void {
  expect(faults.splice(0)).toEqual([]);
}

async function look({ page }: InboxPage, state: string): Promise<void> {
  faults.push(...(await lookAt(page, { state, kept: KEPT })));
}

async function openAt(url: string, options: InboxPageOptions = {}): Promise<InboxPage> {
  return openFixedTimePage(resources, { newPage, url, viewport: SIZES.desktop, ...options });
}

test(`the list and the cards of what waits ${WELL}`, { timeout: LONG_MS }, async () => {
  const server = await startFixedTimeInbox(resources);
  const inbox = await openAt(server.url);
  const { page, rows, card, button, open } = inbox;
  const { simple, ...others } = server.shown;
  await rows.nth(8).waitFor();
  await page.getByText("Live").waitFor();
  await look(inbox, "list");
  await open(simple);
  await card.getByText("Earlier decisions for this tool and requester").waitFor();
  await ready(inbox);
  await look(inbox, "card");
  await button(/^Reject…/).click();
  await page.getByLabel(/^Reason/).fill("Needs two receipts.");
  await look(inbox, "reject");
  await button("Back").click();
  for (const state of [
    "diff",
    "form",
    "nested",
    "server",
    "questions",
    "long",
    "others",
    "unknown",
  ] as const) {
    await open(others[state]);
    await surrounded(inbox);
    await look(inbox, state);
  }
  await page.getByLabel("It happened").check();
  await look(inbox, "settling");
  await page.getByLabel("It did not happen: run it again").check();
  await look(inbox, "retrying");
  await open(others.amendable);
  await button("Change the arguments…").click();
  await page.getByLabel("quantity").fill("4");
  await look(inbox, "amended");
  await open(others.hold);
  await button(/^Hold/).and(page.locator("[aria-disabled=false]")).waitFor();
  await look(inbox, "hold");
  expectNoFaults();
});

test(`what was decided, and several at once, ${WELL}`, { timeout: LONG_MS }, async () => {
  const server = await startFixedTimeInbox(resources);
  const inbox = await openAt(server.url);
  const { page, rows, card, button, open, sendNow } = inbox;
  await rows.nth(8).waitFor();
  for (const box of (await page.getByRole("checkbox").all()).slice(0, 3)) await box.check();
  await look(inbox, "picked");
  await button("Review…").click();
  await look(inbox, "review");
  await button(/^Reject all/).click();
  await look(inbox, "review-reject");
  await page.keyboard.press("Escape");
  if (await page.getByRole("dialog").isVisible()) await page.keyboard.press("Escape");
  await open(server.shown.simple);
  await ready(inbox);
  await page.emulateMedia({ colorScheme: "light" });
  await button(/^Approve/).click();
  // It is gone long before it has been looked at everywhere.
  await keepPicture(page, "held", "held.png");
  await look(inbox, "held");
  await sendNow();
  await open(server.shown.simple);
  await card.locator(".card-head").getByText("Succeeded").waitFor();
  await surrounded(inbox);
  await look(inbox, "approved");
  await open(server.shown.questions);
  await page.getByLabel("Frankfurt (eu)").check();
  await page.getByLabel("Audit log").check();
  await button("Send the answers").and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await open(server.shown.questions);
  await card.locator(".card-head").getByText("Succeeded").waitFor();
  await look(inbox, "answered");
  await open(server.shown.amendable);
  await button("Change the arguments…").click();
  await page.getByLabel("quantity").fill("4");
  await button("Approve as changed").and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await open(server.shown.amendable);
  await card.getByText("Changed by local").waitFor();
  await surrounded(inbox);
  await look(inbox, "amended-approved");
  await open(server.shown.unknown);
  await page.getByLabel("It happened").check();
  await page.getByLabel(/^Result/).fill("Found in the bank's list: paid.");
  await button("Settle").click();
  await sendNow();
  await card.locator(".card-head").getByText("Succeeded, settled").waitFor();
  await surrounded(inbox);
  await look(inbox, "settled");
  for (const state of ["expired", "failed"] as const) {
    await open(server.shown[state]);
    await surrounded(inbox);
    await look(inbox, state);
  }
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await look(inbox, "keys");
  await page.keyboard.press("Escape");
  await button("More…").click();
  await page.getByRole("option", { name: "Grants" }).waitFor();
  await look(inbox, "more");
  expectNoFaults();
});

test(`history, my requests and the chat ${WELL}`, { timeout: LONG_MS }, async () => {
  const server = await startFixedTimeInbox(resources);
  const inbox = await openAt(server.url, { path: "#/history" });
  const { page, button, sendNow } = inbox;
  await expect.poll(() => page.locator("tbody tr").count()).toBe(4);
  await look(inbox, "history");
  await page.goto(`${server.url}/#/mine`);
  await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
  await look(inbox, "mine");
  await button("Withdraw…").click();
  await look(inbox, "withdraw");
  await page.keyboard.press("Escape");
  await page.goto(`${server.url}/#/unknown`);
  await page.locator(".unknown").first().waitFor();
  await look(inbox, "unknown-page");
  await page.goto(`${server.url}/#/login`);
  await page.getByText("not authenticated").waitFor();
  await look(inbox, "login-page");
  await page.goto(`${server.url}/#/chat`);
  await page.getByText("Start a chat").waitFor();
  await look(inbox, "chat-none");
  await button("New chat with office").click();
  const words = "Reimburse my trip to Lisbon, tell finance, and have the audit filed.";
  server.teach(words, TRIP, MAIL, { name: "clerk", args: { request: "file" } });
  await page.getByLabel("Message").fill(words);
  await page.keyboard.press("Enter");
  await page.getByText("3 calls wait").or(page.getByText("2 calls wait")).first().waitFor();
  await page
    .locator(".tool", { hasText: "file_report" })
    .locator(".badge", { hasText: "Requested" })
    .waitFor();
  await page.locator(".tool", { hasText: "reimburse" }).scrollIntoViewIfNeeded();
  await look(inbox, "chat-pending");
  const trip = page.locator(".tool", { hasText: "reimburse" });
  await trip.getByRole("button", { name: "Approve" }).and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await trip.locator(".badge", { hasText: "Succeeded" }).waitFor();
  await look(inbox, "chat-decided");
  await page.goto(`${server.url}/#/chat`);
  await button("New chat with office").click();
  server.teach("Set up the new database.", ASK_USER);
  await page.getByLabel("Message").fill("Set up the new database.");
  await page.keyboard.press("Enter");
  await page.getByLabel("Frankfurt (eu)").waitFor();
  await look(inbox, "chat-questions");
  expectNoFaults();
});

test(`a page that is empty, loading, offline, reconnecting or wants a login ${WELL}`, {
  timeout: LONG_MS,
}, async () => {
  const server = await startInboxServer(resources, { mode: "tokens" });
  const held = Promise.withResolvers<void>();
  const inbox = await openAt(server.url, {
    mayComplain: /401|ERR_/,
    prepare: (page) =>
      page.route("**/v1/confirmations?**", async (route) => {
        await held.promise;
        await route.continue();
      }),
  });
  const { page, button } = inbox;
  await page.getByRole("dialog", { name: "Log in to continue" }).waitFor();
  await look(inbox, "login");
  await page.getByLabel(/^Token/).fill(await server.tokenFor("ana"));
  await button("Log in").click();
  await page.getByRole("status", { name: "Loading" }).waitFor();
  await look(inbox, "loading");
  held.resolve();
  await page.getByText("Nothing waits for you").waitFor();
  await look(inbox, "empty");
  await page.locator("#search").fill("nothing like this");
  await page.getByText("Nothing matches").waitFor();
  await look(inbox, "no-match");
  await page.context().setOffline(true);
  await page.getByText("Offline", { exact: true }).waitFor();
  await look(inbox, "offline");
  await page.context().setOffline(false);
  await page.getByText("Live").waitFor();
  await server.stop();
  await page.getByText("Reconnecting…").waitFor();
  await look(inbox, "reconnecting");
  await server.start();
  expectNoFaults();
});

async function ready({ page, button }: InboxPage): Promise<void> {
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
}

async function surrounded({ page }: InboxPage): Promise<void> {
  await page.getByText("Loading the context").waitFor({ state: "detached" });
}
