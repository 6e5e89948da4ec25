import type { Page, Request } from "playwright-core";
import { expect, test } from "vitest";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

/** Time can be stopped, so that no click is sent before the test says so. */
const prepare = (page: Page): Promise<void> => page.clock.install();
const stopClock = (page: Page): Promise<void> => page.clock.pauseAt(Date.now() + 20_000);

/** Anything but the note that the card was opened. */
const isWrite = (request: Request): boolean =>
  request.method() === "POST" && !request.url().endsWith("/view");

const LUNCH = { name: "reimburse", args: { amount: 2500, purpose: "lunch" } };
const MAIL = { name: "send_email", args: { to: "finance@corp.example", subject: "Hello" } };

test("a request appears without a reload, is approved on its card, and the call runs once", async () => {
  const server = await startInboxServer(resources);
  const { page, rows, card, button, sendNow } = await openInbox(resources, { newPage, url: server.url });
  await page.getByText("Nothing waits for you").waitFor();
  await server.ask("ana", LUNCH);
  await rows.first().waitFor();
  await expect.poll(() => page.title()).toBe("(1) Countersign");
  await rows.first().click();
  await card.getByRole("heading", { name: "reimburse" }).waitFor();
  expect(await card.innerText()).toContain("Pay out 2500 EUR");
  expect(await card.innerText()).toContain("You cannot undo it");
  await button(/^Approve/).click();
  await sendNow();
  await card.locator(".card-head").getByText("Succeeded").waitFor();
  expect(server.ran).toEqual([LUNCH]);
  expect(await card.innerText()).toContain("Approved by local");
  expect(await button(/^Approve/).count()).toBe(0);
  await page.reload();
  await card.locator(".card-head").getByText("Succeeded").waitFor();
  expect(await button(/^Approve/).count()).toBe(0);
  expect(await page.title()).toBe("Countersign");
});

test("a click can be undone before it is sent, and then nothing has happened", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", LUNCH);
  const { page, open, button, card } = await openInbox(resources, { newPage, url: server.url, prepare });
  const decisions: string[] = [];
  page.on("request", (request) => {
    if (isWrite(request)) decisions.push(request.url());
  });
  await open(id);
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  await stopClock(page);
  await button(/^Approve/).click();
  await button("Undo").click();
  await button(/^Approve/).waitFor();
  await card.locator(".badge", { hasText: "Requested" }).waitFor();
  await page.clock.runFor(10_000);
  expect(decisions).toEqual([]);
  expect(server.ran).toEqual([]);
});

test("a held click is sent by itself, once, under one key", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", LUNCH);
  const { page, open, button, card } = await openInbox(resources, { newPage, url: server.url, prepare });
  const keys: (string | undefined)[] = [];
  page.on("request", (request) => {
    if (isWrite(request)) keys.push(request.headers()["idempotency-key"]);
  });
  await open(id);
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  await stopClock(page);
  await button(/^Approve/).dblclick();
  await button("Undo").waitFor();
  await page.clock.runFor(3_000);
  expect(keys).toEqual([]);
  await page.clock.runFor(2_000);
  await page.clock.resume();
  await card.locator(".card-head").getByText("Succeeded").waitFor();
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
  expect(server.ran).toEqual([LUNCH]);
});

test("a rejection carries its reason to the record and the model", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", MAIL);
  const { page, open, card, button, sendNow } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  await page.keyboard.press("r");
  await page.keyboard.type("not this week");
  await button("Reject").and(page.locator("[aria-disabled=false]")).waitFor();
  await page.keyboard.press("Control+Enter");
  await sendNow();
  await card.getByText("Denied by local").first().waitFor();
  expect(await card.innerText()).toContain("not this week");
  expect(server.ran).toEqual([]);
  const { decision, result } = (await server.look(id)) ?? {};
  expect(decision).toMatchObject({ confirmed: false, reason: "not this week" });
  expect(result).toBeUndefined();
});

test("approving is off until every folded argument was opened, and says so", async () => {
  const server = await startInboxServer(resources);
  const body = `${"dear all\n".repeat(80)}and now the small print: pay everything`;
  const deep = { a: { b: { c: { d: "hidden" } } } };
  const [id = ""] = await server.ask("ana", { name: "send_email", args: { to: "x@y.example", body, deep } });
  const { page, open, button, card, toEnd } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  await card.getByText("Expand the 2 collapsed parts of the arguments first.").waitFor();
  await button(/^Approve/).click({ force: true });
  await page.keyboard.press("a");
  expect(await button("Undo").count()).toBe(0);
  await button(/^Show all/).click();
  await card.locator(".voice-model").getByText("and now the small print").waitFor();
  await card.getByText("Expand the collapsed part of the arguments first.").waitFor();
  await button("Show 1 nested field").click();
  await card.locator(".voice-model").getByText("hidden").waitFor();
  await toEnd();
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  await page.keyboard.press("a");
  await button("Undo").waitFor();
});

test("the keys move, open and approve, but not while somebody types", async () => {
  const server = await startInboxServer(resources);
  await server.ask("ana", LUNCH);
  await server.ask("ana", MAIL);
  const { page, rows, card, button } = await openInbox(resources, { newPage, url: server.url });
  await expect.poll(() => rows.count()).toBe(2);
  await card.getByRole("heading", { name: "reimburse" }).waitFor();
  await page.keyboard.press("j");
  await card.getByRole("heading", { name: "send_email" }).waitFor();
  await page.keyboard.press("k");
  await card.getByRole("heading", { name: "reimburse" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("aaa");
  expect(await page.locator("#search").inputValue()).toBe("aaa");
  expect(await button("Undo").count()).toBe(0);
  await page.locator("#search").fill("");
  await card.click({ position: { x: 5, y: 5 } });
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("a");
  expect(await button("Undo").count()).toBe(0);
  await page.keyboard.press("Escape");
  await expect.poll(async () => (await page.keyboard.press("a"), button("Undo").count())).toBe(1);
});

test("the approve key does nothing in the half second after the card has appeared", async () => {
  const server = await startInboxServer(resources);
  const [first = ""] = await server.ask("ana", LUNCH);
  await server.ask("ana", MAIL);
  const { page, open, button, card } = await openInbox(resources, { newPage, url: server.url, prepare });
  await open(first);
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  await stopClock(page);
  await page.keyboard.press("j");
  await card.getByRole("heading", { name: "send_email" }).waitFor();
  await page.clock.runFor(490);
  await page.keyboard.press("a");
  expect(await button("Undo").count()).toBe(0);
  await page.clock.runFor(20);
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  await page.keyboard.press("a");
  await button("Undo").waitFor();
});

test("nothing moves under the pointer: news waits behind a button", async () => {
  const server = await startInboxServer(resources);
  await server.ask("ana", MAIL);
  const { page, rows, button } = await openInbox(resources, { newPage, url: server.url });
  await rows.first().hover();
  // Its deadline would put it first.
  await server.ask("ana", LUNCH);
  await server.ask("ana", LUNCH);
  await button("2 new").waitFor();
  expect(await rows.count()).toBe(1);
  expect(await rows.first().innerText()).toContain("send_email");
  await page.locator("header.bar").hover();
  await expect.poll(() => rows.count()).toBe(3);
  expect(await rows.first().innerText()).toContain("reimburse");
  await rows.first().hover();
  await server.ask("ana", LUNCH);
  // By the keyboard's way: a pointer that leaves the list on its way to the button lets the news in by itself.
  await button("1 new").dispatchEvent("click");
  await expect.poll(() => rows.count()).toBe(4);
});

test("a card decided elsewhere changes at once, and a late click says who decided what", async () => {
  const server = await startInboxServer(resources);
  const [first = "", second = ""] = [...(await server.ask("ana", LUNCH)), ...(await server.ask("ana", MAIL))];
  const { page, open, button, card } = await openInbox(resources, {
    newPage,
    url: server.url,
    mayComplain: /409/,
    prepare,
  });
  await open(first);
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  await stopClock(page);
  await button(/^Approve/).click();
  await button("Undo").waitFor();
  // The next one has opened meanwhile.
  await open(first);
  // Whole: a part that is loaded later would tell of the denial before the page has heard of it.
  await card.getByText("What happened").waitFor();
  await server.runner.deny(first, { by: { id: "boss" }, reason: "no" });
  await expect.poll(async () => (await page.clock.runFor(20), card.innerText())).toContain("Denied by boss");
  await page.clock.runFor(5_000);
  await page.clock.resume();
  // The click that was held is not sent any more.
  await page.getByText("Your answer was not sent. Denied by boss").waitFor();
  expect(server.ran).toEqual([]);
  await open(second);
  await server.runner.approve(second, { by: { id: "boss" } });
  await card.getByText("Approved by boss").first().waitFor();
  // What the card says of the decision and its buttons are two drawings.
  await expect.poll(() => button(/^Approve/).count()).toBe(0);
});

test("an answer that the stream has overtaken does not turn the card back", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", LUNCH);
  const { page, open, button, card, sendNow } = await openInbox(resources, { newPage, url: server.url });
  const told = Promise.withResolvers<void>();
  await page.route("**/decision", async (route) => {
    const answer = await route.fetch();
    await told.promise;
    // As it was when the decision was committed, before the call had ended.
    const { result: _later, ...before } = (await answer.json()) as { readonly result?: unknown };
    await route.fulfill({ response: answer, json: { ...before, status: "executing" } });
  });
  await open(id);
  const answered = page.waitForResponse(/\/decision$/);
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .click();
  await sendNow();
  await card.locator(".card-head").getByText("Succeeded").waitFor();
  told.resolve();
  await (await answered).finished();
  await server.ask("ana", MAIL);
  await expect.poll(() => page.locator(".row-link").count()).toBe(2);
  expect(await card.locator(".card-head").innerText()).toContain("Succeeded");
});

test("a tool's question gives a form by its schema or its example, and what is typed reaches the tool", async () => {
  const server = await startInboxServer(resources);
  const [leave = ""] = await server.ask("ana", { name: "grant_leave", args: { days: 5 } });
  const [off = ""] = await server.ask("ana", { name: "request_time_off", args: { days: 5 } });
  const { page, open, button, card, sendNow } = await openInbox(resources, { newPage, url: server.url });
  await open(leave);
  await card.getByText("The answer “Approved days” is not complete.").waitFor();
  await page.getByLabel("Approved days").fill("three");
  await card.getByText("This must be a number.").waitFor();
  await page.getByLabel("Approved days").fill("3");
  await page.getByLabel("kind").selectOption("study");
  await button(/^Approve/).click();
  await sendNow();
  await open(leave);
  await card.locator(".card-head").getByText("Succeeded").waitFor();
  const granted = await server.look(leave);
  expect(granted?.result).toEqual({ granted: { approvedDays: 3, paid: false, kind: "study" } });
  await open(off);
  await page.getByLabel(/approved_days/).fill("4");
  await button(/^Approve/).click();
  await sendNow();
  await card.locator(".card-head").getByText("Succeeded").waitFor();
  expect((await server.look(off))?.result).toEqual({ granted: { approved_days: 4 } });
});

test("amended arguments are shown as what will run instead, and that runs", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", { name: "order", args: { item: "laptop", quantity: 40 } });
  const { page, open, button, card, sendNow } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  await button("Change the arguments…").click();
  expect(await page.getByLabel("item").count()).toBe(0);
  await page.getByLabel("quantity").fill("4");
  const changes = await card.getByRole("group", { name: "What will run instead" }).innerText();
  expect(changes).toMatch(/quantity\s*40 → 4/);
  await button("Approve as changed").click();
  await sendNow();
  await card.getByText("Changed by local").waitFor();
  expect(server.ran).toEqual([{ name: "order", args: { item: "laptop", quantity: 4 } }]);
});

test("all calls of a turn are reviewed together and recorded one by one", async () => {
  const server = await startInboxServer(resources);
  const ids = await server.ask("ana", LUNCH, MAIL, { name: "tag", args: { name: "blue" } });
  const { page, open, button, card, sendNow } = await openInbox(resources, { newPage, url: server.url });
  await open(ids[0] ?? "");
  await button("Review all 3…").click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.innerText()).toContain("finance@corp.example");
  await dialog.getByRole("button", { name: "Approve all 3" }).click();
  await sendNow();
  await card.locator(".card-head").getByText("Succeeded").waitFor();
  await expect.poll(() => server.ran.length).toBe(3);
  for (const id of ids) {
    expect((await server.look(id))?.decision).toMatchObject({
      confirmed: true,
      by: { id: "local" },
    });
  }
});

test("rows are picked and rejected in bulk, with one reason for all", async () => {
  const server = await startInboxServer(resources);
  const ids = [...(await server.ask("ana", LUNCH)), ...(await server.ask("ben", MAIL))];
  const { page, rows, button, sendNow } = await openInbox(resources, { newPage, url: server.url });
  await expect.poll(() => rows.count()).toBe(2);
  for (const box of await page.getByRole("checkbox").all()) await box.check();
  await button("Review…").click();
  await button("Reject all 2…").click();
  await page.keyboard.type("wrong quarter");
  await button("Reject all 2").and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await expect.poll(() => page.locator(".row-side").allInnerTexts()).toEqual(["Denied", "Denied"]);
  for (const id of ids) expect((await server.look(id)).decision?.reason).toBe("wrong quarter");
  await button("Clear 2 decided").click();
  await page.getByText("Nothing waits for you").waitFor();
});

test("not now puts a request off for this person only, and decides nothing", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", LUNCH);
  const { page, open, button, rows } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  await button(/^Not now/).click();
  await button(/^In an hour/).click();
  await page.getByText("Nothing waits for you").waitFor();
  expect(await page.title()).toBe("Countersign");
  await page.reload();
  await page.getByText("Nothing waits for you").waitFor();
  await page.getByLabel("Show").selectOption("snoozed");
  await rows.first().click();
  await button(/show it again/).click();
  await expect.poll(() => page.title()).toBe("(1) Countersign");
  expect((await server.look(id))?.status).toBe("requested");
});

test("search and filters narrow the list", async () => {
  const server = await startInboxServer(resources);
  await server.ask("ana", LUNCH);
  const [mail = ""] = await server.ask("ben", MAIL);
  const { page, rows, button } = await openInbox(resources, { newPage, url: server.url });
  await expect.poll(() => rows.count()).toBe(2);
  await page.locator("#search").fill("finance@corp");
  await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining("send_email")]);
  await page.locator("#search").fill("nothing like this");
  await page.getByText("Nothing matches").waitFor();
  await button("Clear").click();
  for (const [filter, value, left] of [
    ["Requester", "ana", ["reimburse"]],
    ["Tool", "send_email", ["send_email"]],
    ["Agent", "assistant", ["reimburse", "send_email"]],
  ] as const) {
    await page.getByLabel(filter, { exact: true }).selectOption(value);
    await expect.poll(() => page.locator(".row-tool").allInnerTexts()).toEqual(left);
    await button("Clear").click();
  }
  await server.runner.deny(mail, { by: { id: "boss" } });
  await page.getByLabel("Show").selectOption("decided");
  await expect.poll(() => page.locator(".row-tool").allInnerTexts()).toEqual(["send_email"]);
});

test("with too many open confirmations, the inbox says so, stays small, and finds the rest by filters", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", LUNCH);
  const one = await server.look(id);
  const tea = { args: { amount: 1, purpose: "tea" }, hint: "Pay?" };
  const waiting = { ...one, ...tea, expiresAt: "2100-01-01T00:00:00.000Z" };
  let told = 0;
  const { page, rows } = await openInbox(resources, {
    newPage,
    url: server.url,
    // The first one is open, and there is none of it.
    mayComplain: /404/,
    prepare: (loading) =>
      loading.route("**/v1/confirmations?status=requested&limit=200*", async (route) => {
        // As a server would answer that has fifty thousand of them.
        const items = Array.from({ length: 200 }, () => ({
          ...waiting,
          id: `adk-${String(++told).padStart(6, "0")}`,
          can: { decide: true, amend: false, cancel: true },
        }));
        await route.fulfill({ json: { items, next: String(told) } });
      }),
  });
  await page.getByText("Only the 10,000 nearest deadlines are shown").waitFor();
  expect(told).toBe(10_200);
  expect(await rows.count()).toBeLessThan(60);
  // The filter's own question goes to the server.
  await page.locator("#search").fill("lunch");
  await expect.poll(() => rows.count()).toBe(1);
});

test("a desktop notification announces new confirmations while the tab is hidden, if it was enabled", async () => {
  const server = await startInboxServer(resources);
  const { page, button, rows } = await openInbox(resources, {
    newPage,
    url: server.url,
    permissions: ["notifications"],
    prepare: (loading) =>
      loading.addInitScript(`
        window.told = [];
        window.Notification = class extends EventTarget {
          static permission = "granted";
          constructor(title, { body }) { super(); window.told.push(title + " / " + body); }
        };
        Object.defineProperty(document, "hidden", { get: () => window.away === true });
      `),
  });
  await page.getByText("Nothing waits for you").waitFor();
  await page.evaluate("window.away = true");
  await server.ask("ana", LUNCH);
  await rows.first().waitFor();
  expect(await page.evaluate("window.told")).toEqual([]);
  await button("Notify on the desktop").click();
  await server.ask("ana", { name: "tag", args: { name: "\u202Eeulb" } });
  await expect.poll(() => page.evaluate("window.told")).toEqual(["tag waits for you / Tag ⟨U+202E⟩eulb?"]);
});
