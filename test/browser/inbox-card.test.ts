import { expect, test } from "vitest";
import { ManualClock } from "../../src/engine/index.ts";
import { type JsonObject, type Tool, tool } from "../../src/index.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { ASK_USER, startFixedTimeInbox } from "../support/browser/fixed-time-inbox.ts";
import { type InboxPage, openInbox } from "../support/browser/inbox-page.ts";
import { type InboxServer, startInboxServer } from "../support/browser/inbox-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

test("the head says what the requester asked for, in their words and not in an agent's", async () => {
  const server = await startInboxServer(resources);
  server.teach("I want two stands", { name: "order", args: { item: "Laptop stand", quantity: 40 } });
  server.teach("Let the clerk file it", { name: "clerk", args: { request: "the boss agreed" } });
  const first = (await server.runner.send("I want two stands", { user: "ana" })).pending[0]?.id ?? "";
  const second = (await server.runner.send("Let the clerk file it", { user: "ana" })).pending[0]?.id ?? "";
  const { open, card } = await openInbox(resources, { newPage, url: server.url });
  const asked = card.locator(".card-head .card-asked");
  await open(first);
  await expect.poll(() => asked.innerText()).toBe("In their words: “I want two stands”");
  await open(second);
  await expect.poll(() => asked.innerText()).toBe("In their words: “Let the clerk file it”");
  await card.locator(".talk li", { hasText: "assistant" }).getByText("the boss agreed").waitFor();
});

const LUNCH = { name: "reimburse", args: { amount: 2500, purpose: "lunch" } };
const MAIL = { name: "send_email", args: { to: "finance@corp.example" } };

async function openOne(inboxServer: InboxServer, id: string): Promise<InboxPage> {
  const inbox = await openInbox(resources, { newPage, url: inboxServer.url });
  await inbox.open(id);
  await inbox.page.getByText("Loading the context").waitFor({ state: "detached" });
  return inbox;
}

test("a card tells what it is about, who asks, what each answer does, and what surrounds it", async () => {
  const inboxServer = await startInboxServer(resources);
  const [earlier = ""] = await inboxServer.ask("ana", {
    name: "reimburse",
    args: { amount: 7, purpose: "tea" },
  });
  await (await inboxServer.runner.approve(earlier, { by: { id: "grace" } })).finished;
  const [id = ""] = await inboxServer.ask("ana", LUNCH, MAIL);
  const { card } = await openOne(inboxServer, id);
  await expect
    .poll(() => card.locator(".card-head").innerText())
    .toMatch(
      /left\s+reimburse\s+Pay out 2500 EUR for "lunch"\?\s+Text from the tool’s author\s+A\s+ana through assistant.*\s+In their words: “\[.*\]”\s+Needs approval: the tool requires confirmation/,
    );
  expect(await card.locator(".voice-author").innerText()).toContain(`Pay out 2500 EUR for "lunch"?`);
  expect(await card.locator(".voice-model").innerText()).toMatch(/written by the model.*2500.*lunch/s);
  const happens = await card.getByRole("region", { name: "What happens" }).innerText();
  expect(happens).toMatch(/runs now, at most once, with exactly these arguments\. You cannot undo it/);
  expect(happens).toContain("The model is told “tool call was rejected by the user”, with your reason");
  expect(happens).toMatch(/(At|On) .+ it expires: it does not run, and the model is told so/);
  const facts = await card.getByRole("region", { name: "Where it comes from" }).innerText();
  expect(facts).toMatch(/Requested by\s+ana/);
  expect(facts).toMatch(/assistant › reimburse/);
  expect(facts).toMatch(/Who may decide\s+the requester \(ana\), or anyone at this machine/);
  const around = await card.locator(".card-scroll").innerText();
  expect(around).toMatch(/Other calls in the same turn.*send_email.*finance@corp\.example/s);
  expect(around).toMatch(
    /Earlier decisions for this tool and requester\s+reimburse 7 · tea\s+grace, .*Succeeded/s,
  );
  expect(around).toMatch(
    /Conversation before this request\s+Untrusted text: it may have been written to persuade you/,
  );
});

function asking(name: string, more: object = {}): Tool {
  return tool({
    name,
    description: "Asks while it runs.",
    parameters: { type: "object", properties: {} },
    expiresInMs: 3_600_000,
    execute: (_args, { requestConfirmation, toolConfirmation }) => {
      if (toolConfirmation === undefined) requestConfirmation({ hint: "Go on?" });
    },
    ...more,
  });
}

test("a card does not say that a tool does not run which has asked while it ran", async () => {
  const server = await startInboxServer(resources, {
    tools: [asking("migrate"), asking("migrate_and_tell", { onDenied: "invoke" })],
  });
  const [silent = ""] = await server.ask("ana", { name: "migrate", args: {} });
  const [telling = ""] = await server.ask("ana", { name: "migrate_and_tell", args: {} });
  const { open, card } = await openOne(server, silent);
  const happens = card.getByRole("region", { name: "What happens" });
  const stops = await happens.innerText();
  expect(stops).toContain("It has started, and does not continue. The model is told “tool call was rejected");
  expect(stops).toContain("it expires: it does not continue, and the model is told so.");
  await open(telling);
  const tells = await happens.innerText();
  expect(tells).toContain("It runs once more, only to write the answer to the model, with your reason");
  expect(tells).toContain("it expires: it runs once more, only to write the answer to the model.");
  expect(stops + tells).not.toContain("does not run");
});

test("loaded again, a card shows what became of it, with a badge and without buttons", async () => {
  const inboxServer = await startFixedTimeInbox(resources);
  const { page, open, card } = await openInbox(resources, { newPage, url: inboxServer.url });
  await (
    await inboxServer.runner.approve(inboxServer.shown.form, {
      by: { id: "boss" },
      payload: { approvedDays: 5, kind: "study" },
    })
  ).finished;
  await inboxServer.runner.deny(inboxServer.shown.diff, { by: { id: "boss" } });
  for (const [id, word, look] of [
    [inboxServer.shown.form, "Succeeded", "badge-yes"],
    [inboxServer.shown.diff, "Denied", "badge-no"],
    [inboxServer.shown.expired, "Expired", "badge-plain"],
    [inboxServer.shown.failed, "Failed", "badge-warn"],
    [inboxServer.shown.unknown, "Unknown", "badge-warn"],
  ] as const) {
    await open(id);
    await page.reload();
    await card.locator(`.card-head .${look}`, { hasText: word }).waitFor();
    expect(await page.getByRole("button", { name: /^(Approve|Reject)/ }).count()).toBe(0);
  }
});

test("questions are asked as questions, picked or answered in one's own words, and reach the model", async () => {
  const inboxServer = await startInboxServer(resources);
  const [id = ""] = await inboxServer.ask("ana", ASK_USER);
  const { page, rows, button, card, sendNow } = await openOne(inboxServer, id);
  expect(await rows.first().innerText()).toContain("Which region should it run in?");
  await card.getByRole("heading", { name: "3 questions for you" }).waitFor();
  await card.getByText("Answer at least one question.").waitFor();
  await page.getByLabel("Ohio (us)").check();
  await page.getByLabel("Frankfurt (eu)").check();
  expect(await page.getByLabel("Ohio (us)").isChecked()).toBe(false);
  const [region, addOns, more] = await page.getByRole("group").all();
  await region?.getByLabel("In your own words").fill("Lisbon");
  expect(await page.getByLabel("Frankfurt (eu)").isChecked()).toBe(false);
  await page.getByLabel("Backup").check();
  await page.getByLabel("Audit log").check();
  await addOns?.getByLabel("In your own words").fill("Logs for a year");
  await more?.getByLabel("Your answer").fill("Cheap");
  await button("Send the answers").and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await card.locator(".card-head").getByText("Succeeded").waitFor();
  expect((await inboxServer.look(id)).decision?.payload).toEqual({
    answer_1: "Lisbon",
    answer_2: ["Backup", "Audit log", "Logs for a year"],
    answer_3: "Cheap",
  });
  expect(await card.getByRole("region", { name: "What is asked" }).innerText()).toMatch(
    /Which region should it run in\?\s+Frankfurt \(eu\) · Ohio \(us\)\s+Lisbon/,
  );
});

test("questions can be declined, with a reason", async () => {
  const inboxServer = await startInboxServer(resources);
  const [id = ""] = await inboxServer.ask("ana", ASK_USER);
  const { page, button, sendNow, card } = await openOne(inboxServer, id);
  await button(/^Decline…/).click();
  await page.keyboard.type("ask somebody else");
  await button("Decline").and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await card.getByText("Denied by local").first().waitFor();
  expect((await inboxServer.look(id)).decision?.reason).toBe("ask somebody else");
});

test("a tool of an MCP server says so, and its words do not look like the author's or the model's", async () => {
  const inboxServer = await startFixedTimeInbox(resources);
  const { card } = await openOne(inboxServer, inboxServer.shown.server);
  expect(await card.locator(".card-source").innerText()).toBe("from filesystem-server");
  expect(await card.getByRole("region", { name: "Where it comes from" }).innerText()).toMatch(
    /Tool’s server\s+filesystem-server/,
  );
  // The question is in our words, not in the server's.
  expect(await card.getByRole("heading", { level: 1 }).innerText()).toContain(
    "Delete file reports/2025.csv?",
  );
  expect(await card.locator(".card-head .voice").count()).toBe(0);
  await (await inboxServer.runner.approve(inboxServer.shown.server, { by: { id: "grace" } })).finished;
  const outcome = card.getByRole("region", { name: "Outcome" });
  await outcome.locator(".voice-server").getByText("Text from filesystem-server").waitFor();
});

test("a deadline counts down, and when it is over nothing can be approved", async () => {
  const clock = new ManualClock(Date.now());
  const inboxServer = await startInboxServer(resources, { clock });
  const [id = ""] = await inboxServer.ask("ana", LUNCH);
  const { page, open, card } = await openInbox(resources, {
    newPage,
    url: inboxServer.url,
    prepare: (loading) => loading.clock.install(),
  });
  await open(id);
  await card
    .locator(".deadline")
    .getByText(/^(59|60) min left$|^1 h 00 min left$/)
    .waitFor();
  await page.clock.fastForward(58 * 60_000 + 30_000);
  await card
    .locator(".deadline-soon")
    .getByText(/^1 min \d\d s left$|^\d+ s left$/)
    .waitFor();
  await page.clock.fastForward(40_000);
  await card
    .locator(".deadline-now")
    .getByText(/^\d+ s left$/)
    .waitFor();
  await page.clock.fastForward(5 * 60_000);
  await card.getByText("The deadline has passed.").waitFor();
  await clock.advance(61 * 60_000);
  await inboxServer.runner.work({ once: true });
  await card.locator(".card-head").getByText("Expired").waitFor();
  await card.getByText("Nobody decided in time. It did not run.").waitFor();
  expect(inboxServer.ran).toEqual([]);
});

test("a card says how whoever asked was known then, for the call of a nested agent too", async () => {
  const inboxServer = await startInboxServer(resources, { mode: "tokens" });
  const token = await inboxServer.tokenFor("ana");
  const send = async (path: string, body: object): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(`${inboxServer.url}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
  };
  await send("/apps/office/users/ana/sessions/s1", {});
  const calls = [LUNCH, { name: "clerk", args: { request: "file it" } }];
  const newMessage = { role: "user", parts: [{ text: JSON.stringify(calls) }] };
  await send("/run", { appName: "office", userId: "ana", sessionId: "s1", newMessage });
  // Here a program says that it was ana, and nobody has proved it.
  await inboxServer.ask("ana", MAIL);
  const { page, rows, open, card, button } = await openInbox(resources, {
    newPage,
    url: inboxServer.url,
    mayComplain: /401/,
  });
  await page.getByLabel(/^Token/).fill(token);
  await button("Log in").click();
  await expect.poll(() => rows.count()).toBe(3);
  const { items } = await inboxServer.engine.ledger.confirmations({ state: "open" }, {});
  const facts = card.getByRole("region", { name: "Where it comes from" });
  for (const { confirmation } of items) {
    await open(confirmation.id);
    await card.getByRole("heading", { name: confirmation.tool }).waitFor();
    const known = confirmation.tool === "send_email" ? "not authenticated" : "authenticated with a token";
    await facts.getByText(known, { exact: false }).waitFor();
    expect(await facts.innerText()).toMatch(new RegExp(`Requested by\\s+ana · ${known}`));
  }
  expect(items).toHaveLength(3);
});

test("what lies below the edge is scrolled to before it is approved, on a card and among several", async () => {
  const inboxServer = await startInboxServer(resources);
  const fields = Array.from({ length: 18 }, (_, index) => [`field ${index + 1}`, `value ${index + 1}`]);
  const many = { name: "tag", args: Object.fromEntries(fields) as JsonObject };
  const [id = ""] = await inboxServer.ask("ana", many, { ...many, name: "send_email" });
  const { page, open, card, button } = await openInbox(resources, {
    newPage,
    url: inboxServer.url,
    viewport: { width: 1280, height: 500 },
  });
  const isOn = page.locator("[aria-disabled=false]");
  await open(id);
  await card.getByText("Scroll to the end of the arguments first.").waitFor();
  await page.keyboard.press("a");
  expect(await button("Undo").count()).toBe(0);
  // The keys that scroll do so in the card that was opened; jumping over the end is as good as reaching it.
  await page.keyboard.press("End");
  await button(/^Approve/)
    .and(isOn)
    .waitFor();
  await button("Review all 2…").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Scroll to the end of the arguments first.").waitFor();
  await dialog.locator(".review").focus();
  await page.keyboard.press("End");
  await dialog.getByRole("button", { name: "Approve all 2" }).and(isOn).waitFor();
  expect(inboxServer.ran).toEqual([]);
});

test("a declared before and after is a diff, and a nested agent's call names its agents and the inner tool", async () => {
  const inboxServer = await startFixedTimeInbox(resources);
  const { card, open } = await openOne(inboxServer, inboxServer.shown.diff);
  const diff = card.getByRole("group", { name: "What changes" });
  expect(await diff.locator(".diff-removed").allInnerTexts()).toEqual([
    expect.stringContaining("daily: 100"),
  ]);
  expect(await diff.locator(".diff-added").allInnerTexts()).toEqual([expect.stringContaining("daily: 1000")]);
  await open(inboxServer.shown.nested);
  await card.getByRole("heading", { name: "file_report" }).waitFor();
  expect(await card.locator(".path").innerText()).toBe("assistant › clerk › file_report");
});
