import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ManualClock } from "../../src/engine/index.ts";
import { type JsonObject, tool } from "../../src/index.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { layoutFaults } from "../support/browser/layout.ts";
import { useResources } from "../support/resources.ts";

// Each of these was wrong once.

const resources = useResources();
const newPage = useBrowser();

/** Time can be stopped, so that no click is sent before the test says so. */
const prepare = (page: Page): Promise<void> => page.clock.install();
const stopClock = (page: Page): Promise<void> => page.clock.pauseAt(Date.now() + 20_000);

const LUNCH = { name: "reimburse", args: { amount: 2233, currency: "EUR", purpose: "lunch" } };
const MAIL = { name: "send_email", args: { to: "finance@corp.example", subject: "Hello" } };
const any = { type: "object", properties: {} } as const;
const gated = { description: "Does it.", parameters: any, requireConfirmation: true } as const;

test("what an approver changed is shown beside what the model wrote, also after a reload, and in the history", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", { name: "order", args: { item: "laptop", quantity: 40 } });
  const { page, open, button, card, sendNow } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  await button("Change the arguments…").click();
  await page.getByLabel("quantity").fill("4");
  await button("Approve as changed").and(page.locator("[aria-disabled=false]")).click();
  await page.locator(".strip").getByText("Approving order 4 × · ana, as changed").waitFor();
  await sendNow();
  await card.locator(".voice-person").getByText("Changed by local").waitFor();
  await page.reload();
  await card.locator(".voice-person").getByText("Changed by local").waitFor();
  expect(await card.locator(".voice-model").innerText()).toMatch(/written by the model.*quantity\s+40/s);
  expect(await card.locator(".voice-person").innerText()).toMatch(/quantity\s+40\s+→\s+4/);
  await page.goto(`${server.url}/#/history`);
  await page.getByText("Changed by local: quantity: 40 → 4").waitFor();
});

test("an outcome that a person settled says so, and by whom", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", { name: "explode", args: { amount: 90 } });
  await (await server.runner.approve(id, { by: { id: "grace" } })).finished;
  const { page, open, button, card, sendNow } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  await page.getByLabel("It happened").check();
  await page.getByLabel(/^Result/).fill("paid by hand");
  await button("Settle").click();
  await sendNow();
  const outcome = card.getByRole("region", { name: "Outcome" });
  await outcome.getByText("Settled by local (api, unauthenticated): it happened.").waitFor();
  const told = await outcome.innerText();
  expect(told).toContain("Result, as local reported it");
  expect(told).not.toContain("took");
  await card.locator(".card-head .badge", { hasText: "settled" }).waitFor();
});

test("running an unknown call again warns, and is held back like an approval", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", { name: "explode", args: { amount: 90 } });
  await (await server.runner.approve(id, { by: { id: "grace" } })).finished;
  const { page, open, button, card } = await openInbox(resources, { newPage, url: server.url, prepare });
  await open(id);
  await page.getByLabel("It did not happen: run it again").check();
  await card.getByText("If it did happen, it happens a second time.").waitFor();
  await stopClock(page);
  await button("Run it again").click();
  await page.locator(".strip").getByText("Running again: explode 90 · ana").waitFor();
  await page.keyboard.press("u");
  await page.clock.runFor(10_000);
  expect((await server.look(id)).status).toBe("unknown");
  expect(await page.getByLabel("It did not happen: run it again").isEnabled()).toBe(true);
});

test("near a deadline an approval is sent at once", async () => {
  const server = await startInboxServer(resources, {
    tools: [tool({ ...gated, name: "hurry", expiresInMs: 9_000, execute: () => ({ status: "ok" }) })],
  });
  const { page, rows, button } = await openInbox(resources, { newPage, url: server.url, prepare });
  await page.getByText("Live").waitFor();
  const [id = ""] = await server.ask("ana", { name: "hurry", args: {} });
  await rows.first().click();
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  // From here on no time passes in the page: whatever is held is not sent.
  await page.clock.pauseAt(Date.now() + 1_000);
  await button(/^Approve/).click();
  await expect.poll(async () => (await server.look(id)).status).toBe("succeeded");
});

test("a held answer that the deadline overtakes ends, in whole sentences", async () => {
  const clock = new ManualClock(Date.now());
  const server = await startInboxServer(resources, { clock });
  const [id = ""] = await server.ask("ana", LUNCH);
  const { page, open, button } = await openInbox(resources, { newPage, url: server.url, prepare });
  await open(id);
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  await stopClock(page);
  await button(/^Approve/).click();
  await button(/^Undo/).waitFor();
  await clock.advance(61 * 60_000);
  await server.runner.work({ once: true });
  const strip = page.locator(".strip");
  await expect
    .poll(async () => (await page.clock.runFor(20), strip.innerText()))
    .toContain("Your answer was not sent. Nobody decided in time. It did not run.");
  expect(await strip.innerText()).not.toContain("..");
  expect(await button(/^Undo/).count()).toBe(0);
});

test("what is held is named in a strip that covers nothing, marked in the list, locked, and undone by u", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("user9", LUNCH);
  const [form = ""] = await server.ask("user9", { name: "grant_leave", args: { days: 5 } });
  const { page, open, button, card } = await openInbox(resources, { newPage, url: server.url, prepare });
  const isOn = page.locator("[aria-disabled=false]");
  const strip = page.locator(".strip");
  await open(form);
  await page.getByLabel("Approved days").fill("3");
  await page.getByLabel("kind").selectOption("study");
  await button(/^Approve/)
    .and(isOn)
    .waitFor();
  await stopClock(page);
  await button(/^Approve/)
    .and(isOn)
    .click();
  await strip.getByText("Approving grant_leave").waitFor();
  await open(form);
  expect(await page.getByLabel("Approved days").isDisabled()).toBe(true);
  await page.keyboard.press("u");
  await expect.poll(() => page.getByLabel("Approved days").isDisabled()).toBe(false);
  expect(await page.getByLabel("Approved days").inputValue()).toBe("3");
  await open(id);
  await page.clock.runFor(600);
  await button(/^Approve/)
    .and(isOn)
    .click();
  await strip.getByText("Approving reimburse 2,233 EUR · user9").waitFor();
  await page.locator(`.row-held [data-row="${id}"]`).getByText("Approving").waitFor();
  await open(form);
  for (const viewport of [
    { width: 1280, height: 860 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(viewport);
    const [bar, foot] = await Promise.all([strip.boundingBox(), card.locator(".card-foot").boundingBox()]);
    expect((foot?.y ?? 0) + (foot?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 0);
    expect((bar?.y ?? 0) + (bar?.height ?? 0)).toBeLessThanOrEqual(viewport.height);
  }
  await page.keyboard.press("u");
  await expect.poll(() => button(/^Undo/).count()).toBe(0);
  await page.clock.runFor(10_000);
  expect(server.ran).toEqual([]);
});

test("nothing is cut off between a phone and a desktop", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", LUNCH);
  const { page, open } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  for (const width of [761, 768, 820, 914, 1024]) {
    await page.setViewportSize({ width, height: 900 });
    expect({ width, faults: await layoutFaults(page, { touch: false }) }).toEqual({ width, faults: [] });
  }
});

test("what a request is about has room in a table, whatever stands beside it", async () => {
  const server = await startInboxServer(resources);
  await server.ask("local", {
    name: "wire_money",
    args: { amount: 9000, to: "DE89 3704 0044 0532 0130 00" },
  });
  const { page } = await openInbox(resources, { newPage, url: server.url, path: "#/mine" });
  await page.setViewportSize({ width: 768, height: 900 });
  const question = page.getByRole("link", { name: /^Wire money/ });
  await question.waitFor();
  expect((await question.boundingBox())?.height).toBeLessThanOrEqual(3 * 24);
});

const LETTER = {
  name: "mail",
  args: { to: "ana@corp.example", body: "Dear Ana,\n\nplease come.\n\nBo" },
};

function mailTool(ran: JsonObject[]): ReturnType<typeof tool> {
  return tool({
    ...gated,
    name: "mail",
    parameters: {
      type: "object",
      properties: {
        to: { type: "string", pattern: "@corp\\.example$" },
        body: { type: "string", maxLength: 60 },
        copies: { type: "integer", minimum: 1, maximum: 3 },
      },
      required: ["to", "body"],
    },
    amendable: true,
    execute: (args) => {
      ran.push(args);
      return { status: "ok" };
    },
  });
}

test("forms have room, check what the schema says at the field, and keep what was typed over a reload", async () => {
  const ran: JsonObject[] = [];
  const server = await startInboxServer(resources, { tools: [mailTool(ran)] });
  const [id = ""] = await server.ask("ana", LETTER);
  const { page, open, button, card, sendNow } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  await button("Change the arguments…").click();
  const body = page.getByLabel("body");
  expect((await body.boundingBox())?.width).toBeGreaterThan(500);
  await page.getByLabel("to", { exact: true }).fill("eve@evil.example");
  await card.getByText("This must match the pattern @corp\\.example$.").waitFor();
  await page.getByLabel("copies (optional)").fill("9");
  await card.getByText("This must be at most 3.").waitFor();
  await button(/^Approve/).click({ force: true });
  expect(await button(/^Undo/).count()).toBe(0);
  await page.getByLabel("to", { exact: true }).fill("bo@corp.example");
  await page.getByLabel("copies (optional)").fill("2");
  await page.reload();
  await card.waitFor();
  expect(await page.getByLabel("to", { exact: true }).inputValue()).toBe("bo@corp.example");
  expect(await page.getByLabel("copies (optional)").inputValue()).toBe("2");
  await button("Approve as changed").and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await expect.poll(() => ran).toEqual([{ ...LETTER.args, to: "bo@corp.example", copies: 2 }]);
});

test("approving an incomplete form marks what is missing, and goes there", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", { name: "grant_leave", args: { days: 5 } });
  const { page, open, card } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  await card.getByText("The answer “Approved days” is not complete.").waitFor();
  expect(await card.locator(".field-fault").count()).toBe(0);
  await page.keyboard.press("a");
  await expect.poll(() => card.locator(".field-fault").count()).toBe(2);
  await expect
    .poll(() => page.evaluate(`document.activeElement.labels?.[0]?.innerText`))
    .toBe("Approved days");
});

test("the approve key works after a click on a radio button", async () => {
  const server = await startInboxServer(resources);
  const questions = [{ question: "Where?", choices: ["Here", "There"] }];
  const [id = ""] = await server.ask("ana", { name: "ask_user", args: { questions } });
  const { page, open, button } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  await page.getByLabel("There").click();
  await button("Send the answer").and(page.locator("[aria-disabled=false]")).waitFor();
  await page.keyboard.press("a");
  await expect.poll(() => button(/^Undo/).count()).toBe(1);
});

test("an e-mail of a page is not folded, lines of a hint stay lines, and a row is cut once", async () => {
  const lines = "Dear all,\n".repeat(30);
  const server = await startInboxServer(resources, {
    tools: [
      tool({
        ...gated,
        name: "warn",
        confirmationHint: () => "First line.\nSecond line.",
        execute: () => ({}),
      }),
    ],
  });
  const [mail = ""] = await server.ask("ana", {
    name: "send_email",
    args: { to: "x".repeat(79), body: lines.trim() },
  });
  const [hint = ""] = await server.ask("ana", { name: "warn", args: { title: "y".repeat(120) } });
  const { page, open, card, button, rows, toEnd } = await openInbox(resources, { newPage, url: server.url });
  await open(mail);
  await toEnd();
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  expect(await card.getByRole("button", { name: /^Show all/ }).count()).toBe(0);
  await open(hint);
  await expect.poll(() => card.innerText()).toMatch(/First line\.\nSecond line\./);
  for (const text of await rows.allInnerTexts()) expect(text).not.toContain("more character");
});

test("notifying says so where the browser does not allow it", async () => {
  const server = await startInboxServer(resources);
  const { page, button } = await openInbox(resources, {
    newPage,
    url: server.url,
    prepare: (loading) =>
      loading.addInitScript(`Object.defineProperty(Notification, "permission", { get: () => "denied" })`),
  });
  await button("Notify on the desktop").click();
  await expect
    .poll(() => page.locator(".strip").innerText())
    .toContain("The browser does not allow this page to notify you.");
});

test("a decision made elsewhere ends the countdown, and says who made it", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", MAIL);
  const { page, open, button } = await openInbox(resources, { newPage, url: server.url, prepare });
  await open(id);
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  await stopClock(page);
  await button(/^Approve/).click();
  await button(/^Undo/).waitFor();
  await server.runner.deny(id, { by: { id: "boss" }, reason: "no" });
  const strip = page.locator(".strip");
  await expect
    .poll(async () => (await page.clock.runFor(20), strip.innerText()))
    .toContain("Your answer was not sent. Denied by boss (host, unauthenticated).");
  expect(await button(/^Undo/).count()).toBe(0);
  expect(server.ran).toEqual([]);
});

test("no tab of the header moves when another page is opened", async () => {
  const server = await startInboxServer(resources);
  const { page } = await openInbox(resources, { newPage, url: server.url });
  const tabs = page.getByRole("navigation", { name: "Pages" }).locator(".tab:visible");
  const places = async (): Promise<readonly unknown[]> =>
    Promise.all((await tabs.all()).map((tab) => tab.boundingBox()));
  await page.getByText("Live").waitFor();
  const before = await places();
  for (const name of ["My requests", "History", "Chat", "Numbers"]) {
    await tabs.filter({ hasText: name }).click();
    await tabs.filter({ hasText: name }).and(page.locator("[aria-current=page]")).waitFor();
    expect(await places()).toEqual(before);
  }
});

test("no button of the header moves when the person's name arrives", async () => {
  const server = await startInboxServer(resources);
  const answered = Promise.withResolvers<void>();
  const { page, button } = await openInbox(resources, {
    newPage,
    url: server.url,
    prepare: (opened) =>
      opened.route("**/v1/me", async (route) => {
        await answered.promise;
        await route.continue();
      }),
  });
  await page.getByText("Nothing waits for you").waitFor();
  expect(await button("Notify on the desktop").count()).toBe(0);
  answered.resolve();
  await page.locator(".person").waitFor();
  await button("Notify on the desktop").waitFor();
});
