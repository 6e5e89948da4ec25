import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { type InboxServer, startInboxServer } from "../support/browser/inbox-server.ts";
import { effort } from "../support/effort.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

/** So many requests, each in a session of its own. */
async function askMany(server: InboxServer, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 1; index <= count; index += 1) {
    ids.push(...(await server.ask(`user${index}`, { name: "tag", args: { name: `label ${index}` } })));
    // The list is in the order of ids, and ids of one millisecond are in no particular order.
    await setTimeout(2);
  }
  return ids;
}

const REQUESTS = effort({ short: 12, long: 30 });
/** Thirty in a minute: the next is answered before the one before it is sent. */
const EACH_MS = 2_000;

test(`${REQUESTS} requests are decided in ${(REQUESTS * EACH_MS) / 1_000} s without the mouse`, async () => {
  const server = await startInboxServer(resources);
  const ids = await askMany(server, REQUESTS);
  // By the clock of the page, so that it does not matter how fast this machine is.
  const { page, rows, card, button } = await openInbox(resources, {
    newPage,
    url: server.url,
    prepare: (opened) => opened.clock.install(),
  });
  const isOn = button(/^Approve/).and(page.locator("[aria-disabled=false]"));
  await rows.first().waitFor();
  await page.clock.pauseAt(Date.now() + 20_000);
  for (let index = 1; index <= ids.length; index += 1) {
    await card.getByRole("heading", { name: new RegExp(`label ${index}\\?`) }).waitFor();
    await isOn.waitFor();
    if (index % 3 === 0) {
      await page.keyboard.press("r");
      await page.keyboard.type("no");
      await page.keyboard.press("Control+Enter");
    } else await page.keyboard.press("a");
    await page.clock.runFor(EACH_MS);
  }
  await page.clock.resume();
  const verdicts = async (): Promise<readonly (boolean | undefined)[]> =>
    (await Promise.all(ids.map((id) => server.look(id)))).map(({ decision }) => decision?.confirmed);
  await expect.poll(async () => (await verdicts()).includes(undefined)).toBe(false);
  expect(await verdicts()).toEqual(ids.map((_id, index) => (index + 1) % 3 !== 0));
  await expect.poll(() => server.ran.length).toBe((REQUESTS * 2) / 3);
});

test("the first request is open from the start, the next one after a decision, and Escape leaves the list", async () => {
  const server = await startInboxServer(resources);
  await askMany(server, 3);
  const { page, card, button } = await openInbox(resources, { newPage, url: server.url });
  await card.getByRole("heading", { name: "label 1" }).waitFor();
  await page.keyboard.press("j");
  await card.getByRole("heading", { name: "label 2" }).waitFor();
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  await page.keyboard.press("a");
  await card.getByRole("heading", { name: "label 3" }).waitFor();
  await page.locator(".strip").getByText("Approving tag label 2 · user2").waitFor();
  await page.keyboard.press("u");
  await page.keyboard.press("Escape");
  await page.getByText("Open a request to decide it").waitFor();
  expect(server.ran).toEqual([]);
});

test("filters are in the address and survive a reload; a view keeps them under a name", async () => {
  const server = await startInboxServer(resources);
  await askMany(server, 2);
  await server.ask("ana", { name: "send_email", args: { to: "bo@corp.example" } });
  const { page, rows, button } = await openInbox(resources, { newPage, url: server.url });
  await expect.poll(() => rows.count()).toBe(3);
  await page.getByLabel("Tool").selectOption("send_email");
  await expect.poll(() => rows.count()).toBe(1);
  expect(new URL(page.url()).searchParams.get("tool")).toBe("send_email");
  await page.reload();
  await expect.poll(() => rows.count()).toBe(1);
  await button("Save view…").click();
  await page.getByLabel("Name of the view").fill("Mails");
  await page.keyboard.press("Enter");
  await button("Clear").click();
  await expect.poll(() => rows.count()).toBe(3);
  await page.reload();
  await button("Mails").click();
  await expect.poll(() => rows.count()).toBe(1);
});

test("rows are selected by x, a range by Shift, all by one button, and one is left out of the review", async () => {
  const server = await startInboxServer(resources);
  await askMany(server, 5);
  const { page, rows, card, button, sendNow } = await openInbox(resources, { newPage, url: server.url });
  await card.getByRole("heading", { name: "label 1" }).waitFor();
  await page.keyboard.press("x");
  await page.getByText("1 selected").waitFor();
  await page
    .getByRole("checkbox")
    .nth(2)
    .click({ modifiers: ["Shift"] });
  await page.getByText("3 selected").waitFor();
  await button("Select all 5").click();
  await page.getByText("5 selected").waitFor();
  expect(await rows.count()).toBe(5);
  await button("Review…").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/label 2/).uncheck();
  await dialog.getByRole("button", { name: "Approve 4" }).and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await expect.poll(() => server.ran.length).toBe(4);
  expect(server.ran.map(({ args }) => args["name"])).not.toContain("label 2");
});

test("the command palette finds pages and requests by their words", async () => {
  const server = await startInboxServer(resources);
  await askMany(server, 3);
  const { page, card } = await openInbox(resources, { newPage, url: server.url });
  await card.getByRole("heading", { name: "label 1" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("label 3");
  await page.keyboard.press("Enter");
  await card.getByRole("heading", { name: "label 3" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("history");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "History" }).waitFor();
  expect(new URL(page.url()).hash).toBe("#/history");
});

test("a request is put off until a time of one's choice, and the next one opens", async () => {
  const server = await startInboxServer(resources);
  const [first = ""] = await askMany(server, 2);
  const { page, rows, card, button } = await openInbox(resources, { newPage, url: server.url });
  await card.getByRole("heading", { name: "label 1" }).waitFor();
  await page.keyboard.press("h");
  await button(/^Tomorrow/).click();
  await card.getByRole("heading", { name: "label 2" }).waitFor();
  await expect.poll(() => rows.count()).toBe(1);
  expect((await server.look(first)).status).toBe("requested");
});

test("pages, keys and Not now are left without an Escape key, by a click beside them that does nothing else", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await askMany(server, 1);
  const { page, card, button } = await openInbox(resources, { newPage, url: server.url });
  await card.getByRole("heading", { name: "label 1" }).waitFor();
  const approve = await button(/^Approve/).boundingBox();
  for (const [opens, title] of [
    [button("More…"), "Go to a page, or run a command"],
    [button("Keys"), "Keys"],
    [button(/^Not now/), "Not now"],
  ] as const) {
    await opens.click();
    const dialog = page.getByRole("dialog", { name: title });
    await dialog.waitFor();
    await page.mouse.click((approve?.x ?? 0) + 5, (approve?.y ?? 0) + 5);
    await dialog.waitFor({ state: "detached" });
    expect(await card.getByRole("heading", { name: "label 1" }).isVisible()).toBe(true);
  }
  await button(/^Not now/).click();
  await button("Cancel").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await button(/^Undo/).count()).toBe(0);
  expect((await server.look(id)).status).toBe("requested");
});

test("a review stays open and keeps what was selected when the screen is turned", async () => {
  const server = await startInboxServer(resources);
  await askMany(server, 3);
  const { page, button } = await openInbox(resources, { newPage, url: server.url });
  await page.getByRole("checkbox").first().check();
  await button("Select all 3").click();
  await button("Review…").click();
  const dialog = page.getByRole("dialog", { name: "Review 3 requests" });
  await dialog.waitFor();
  // The list, which opened it, is not shown beside a card on a narrow screen.
  await page.setViewportSize({ width: 744, height: 1133 });
  await page.locator(".inbox-side").waitFor({ state: "hidden" });
  expect(await dialog.isVisible()).toBe(true);
  await button("Back").click();
  await page.setViewportSize({ width: 1133, height: 744 });
  await page.getByText("3 selected").waitFor();
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .click();
  await page.getByText("2 selected").waitFor();
});

test("the field of the palette stays in its place, however much is found", async () => {
  const server = await startInboxServer(resources);
  await askMany(server, 3);
  const { page, rows } = await openInbox(resources, { newPage, url: server.url });
  await rows.first().waitFor();
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Command" });
  const place = await field.boundingBox();
  for (const [words, count] of [
    ["label 2", 1],
    ["nothing like it", 0],
    ["user", 3],
  ] as const) {
    await field.fill(words);
    await expect.poll(() => page.locator("#palette > [role=option]").count()).toBe(count);
    expect(await field.boundingBox()).toEqual(place);
  }
});
