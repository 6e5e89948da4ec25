import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Model } from "../../src/index.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { ASK_USER } from "../support/browser/fixed-time-inbox.ts";
import { type InboxPage, type InboxPageOptions, openInbox } from "../support/browser/inbox-page.ts";
import { type InboxServer, startInboxServer, type WantedCall } from "../support/browser/inbox-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const LUNCH = { name: "reimburse", args: { amount: 2500, purpose: "lunch" } };
const MAIL = { name: "send_email", args: { to: "finance@corp.example" } };

interface Chat extends InboxPage {
  readonly say: (text: string) => Promise<void>;
  readonly ask: (...calls: readonly WantedCall[]) => Promise<void>;
  /** What was said, by whom; tool calls are no messages. */
  readonly bubbles: () => Promise<readonly string[]>;
}

async function openChat(
  server: InboxServer,
  { token, path = "#/chat", ...options }: InboxPageOptions & { readonly token?: string } = {},
): Promise<Chat> {
  const allowed = token === undefined ? {} : { mayComplain: /401/ };
  const inbox = await openInbox(resources, { newPage, url: server.url, path, ...allowed, ...options });
  const { page } = inbox;
  if (token !== undefined) {
    await page.getByLabel(/^Token/).fill(token);
    await page.getByRole("button", { name: "Log in" }).click();
  }
  if (path === "#/chat") await page.getByRole("button", { name: "New chat with office" }).click();
  const say = async (text: string): Promise<void> => {
    await page.getByLabel("Message").fill(text);
    await page.keyboard.press("Enter");
  };
  return {
    ...inbox,
    say,
    ask: (...calls) => say(JSON.stringify(calls)),
    bubbles: () => page.locator(".bubble").allInnerTexts(),
  };
}

test("a message is answered, and the session is found again by its link", async () => {
  const server = await startInboxServer(resources);
  const { page, say, bubbles } = await openChat(server);
  await say("hello");
  await expect.poll(bubbles).toEqual(["hello", "assistant\nYou said: hello"]);
  await page.reload();
  await expect.poll(bubbles).toEqual(["hello", "assistant\nYou said: hello"]);
  await expect.poll(() => page.locator(".sessions a[aria-current]").count()).toBe(1);
});

test("calls wait inline, are decided one by one, and decisions are never messages", async () => {
  const server = await startInboxServer(resources);
  const { page, ask, bubbles, sendNow } = await openChat(server);
  await ask(LUNCH, MAIL);
  const [lunch, mail] = [page.locator(".tool").nth(0), page.locator(".tool").nth(1)];
  await lunch.locator(".badge", { hasText: "Requested" }).waitFor();
  await mail.locator(".badge", { hasText: "Requested" }).waitFor();
  await page.getByText("2 calls wait for approval").waitFor();
  await lunch.getByRole("button", { name: "Approve" }).and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await lunch.locator(".badge", { hasText: "Succeeded" }).waitFor();
  expect(await bubbles()).toHaveLength(1);
  await mail.getByRole("button", { name: "Reject…" }).and(page.locator("[aria-disabled=false]")).click();
  await page.keyboard.type("no");
  await mail.getByRole("button", { name: "Reject" }).click();
  await sendNow();
  await mail.getByText("Denied", { exact: true }).waitFor();
  await expect.poll(async () => (await bubbles()).length).toBe(2);
  expect((await bubbles())[1]).toContain("rejected by the user");
  await page.reload();
  await lunch.locator(".badge", { hasText: "Succeeded" }).waitFor();
  await mail.getByText("Denied", { exact: true }).waitFor();
  expect(await bubbles()).toHaveLength(2);
  expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  expect(server.ran).toEqual([LUNCH]);
});

test("one talks on while something is pending, and approves all above several", async () => {
  const server = await startInboxServer(resources);
  const { page, ask, say, bubbles, button, sendNow } = await openChat(server);
  await ask(LUNCH, MAIL);
  await page.getByText("2 calls wait for approval").waitFor();
  await say("still there?");
  await expect.poll(async () => (await bubbles()).at(-1)).toContain("You said: still there?");
  expect(server.ran).toEqual([]);
  await button("Approve all…").click();
  await page
    .getByRole("button", { name: "Approve all 2" })
    .and(page.locator("[aria-disabled=false]"))
    .click();
  await sendNow();
  await expect.poll(() => page.locator(".badge", { hasText: "Succeeded" }).count()).toBe(2);
  expect(server.ran).toEqual([LUNCH, MAIL]);
  await expect.poll(async () => (await bubbles()).at(-1)).toContain("have arrived");
});

test("what is decided elsewhere shows here by itself, with what the agent then says", async () => {
  const server = await startInboxServer(resources);
  const { page, ask, bubbles } = await openChat(server);
  await ask(LUNCH);
  await page.locator(".badge", { hasText: "Requested" }).waitFor();
  const { items } = await server.engine.ledger.confirmations({ state: "open" }, {});
  await server.runner.approve(items[0]?.confirmation.id ?? "", { by: { id: "boss" } });
  await page.getByText("Approved by boss").first().waitFor();
  await expect.poll(async () => (await bubbles()).at(-1)).toContain(`reimburse: {"status":"ok"}`);
});

test("a nested agent's call is shown as such, with the inner tool", async () => {
  const server = await startInboxServer(resources);
  const { page, ask, bubbles, sendNow } = await openChat(server);
  await ask({ name: "clerk", args: { request: "file the report" } });
  const inner = page.locator(".tool", { hasText: "file_report" });
  await inner.getByText("by assistant › clerk").waitFor();
  await inner.getByRole("button", { name: "Approve" }).and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await inner.locator(".badge", { hasText: "Succeeded" }).waitFor();
  await expect.poll(async () => (await bubbles()).at(-1)).toContain("clerk:");
  expect(server.ran).toEqual([{ name: "file_report", args: { title: "Q3 audit", pages: 12 } }]);
});

test("a question with a form is answered inline", async () => {
  const server = await startInboxServer(resources);
  const { page, ask, sendNow } = await openChat(server);
  await ask({ name: "request_time_off", args: { days: 5 } });
  await page.getByLabel(/approved_days/).fill("2");
  await page.getByRole("button", { name: "Approve" }).and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await page.locator(".badge", { hasText: "Succeeded" }).waitFor();
  await page.getByText(`{"granted":{"approved_days":2}}`).waitFor();
  expect(server.ran).toEqual([{ name: "request_time_off", args: { days: 5 } }]);
});

test("with auth on, one talks as oneself and decides one's own", async () => {
  const server = await startInboxServer(resources, { mode: "tokens" });
  const { page, ask, sendNow } = await openChat(server, { token: await server.tokenFor("ana") });
  await ask(LUNCH, { name: "wire_money", args: { amount: 5, to: "me" } });
  const [lunch, wire] = [page.locator(".tool").nth(0), page.locator(".tool").nth(1)];
  await wire.getByText("Only anyone with the role treasurer").waitFor();
  await lunch.getByRole("button", { name: "Approve" }).and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await lunch.getByText("Approved by ana").first().waitFor();
  expect(server.ran).toEqual([LUNCH]);
});

test("what is being said is shown before it is whole", async () => {
  const goOn = Promise.withResolvers<void>();
  const model: Model = {
    name: "slow",
    async *generate() {
      yield { parts: [{ text: "Once upon " }], partial: true };
      await goOn.promise;
      yield { parts: [{ text: "a time." }], partial: true };
      yield { parts: [{ text: "Once upon a time." }] };
    },
  };
  const server = await startInboxServer(resources, { model });
  const { page, say, bubbles } = await openChat(server);
  await page.getByText("Send a message to office").waitFor();
  await say("tell me");
  const growing = page.locator(".bubble[aria-busy=true]");
  await growing.getByText("Once upon", { exact: true }).waitFor();
  goOn.resolve();
  await expect.poll(bubbles).toEqual(["tell me", "assistant\nOnce upon a time."]);
  expect(await growing.count()).toBe(0);
});

test("text after a decision grows as it is written, too", async () => {
  const goOn = Promise.withResolvers<void>();
  const model: Model = {
    name: "slow",
    async *generate({ contents }) {
      const isAnswered = contents.some(({ parts }) =>
        parts.some((part) => part.functionResponse !== undefined),
      );
      if (!isAnswered) {
        yield { parts: [{ functionCall: LUNCH }] };
        return;
      }
      yield { parts: [{ text: "It is " }], partial: true };
      await goOn.promise;
      yield { parts: [{ text: "paid." }], partial: true };
      yield { parts: [{ text: "It is paid." }] };
    },
  };
  const server = await startInboxServer(resources, { model });
  const { page, say, bubbles } = await openChat(server);
  await say("pay");
  await page.locator(".badge", { hasText: "Requested" }).waitFor();
  await page.getByText("Working…").waitFor({ state: "detached" });
  const { items } = await server.engine.ledger.confirmations({ state: "open" }, {});
  await server.runner.approve(items[0]?.confirmation.id ?? "", { by: { id: "boss" } });
  const growing = page.locator(".bubble[aria-busy=true]");
  await growing.getByText("It is", { exact: true }).waitFor();
  goOn.resolve();
  await expect.poll(bubbles).toEqual(["pay", "assistant\nIt is paid."]);
  expect(await growing.count()).toBe(0);
});

test("an empty chat offers what the agent's author proposes to ask", async () => {
  const server = await startInboxServer(resources, { examplePrompts: ["Say <b>hello</b>"] });
  const { button, bubbles } = await openChat(server);
  await button("Say <b>hello</b>").click();
  await expect.poll(bubbles).toEqual(["Say <b>hello</b>", "assistant\nYou said: Say <b>hello</b>"]);
});

test("while a confirmation is open, the page sends no requests until the stream reports a change", async () => {
  const server = await startInboxServer(resources);
  const { page, ask, bubbles } = await openChat(server, { prepare: (loading) => loading.clock.install() });
  await ask(LUNCH);
  await page.locator(".badge", { hasText: "Requested" }).waitFor();
  await page.getByText("Working…").waitFor({ state: "detached" });
  const reads: string[] = [];
  page.on("request", (request) => {
    if (/\/sessions\/[^/]+$|\/v1\/confirmations/.test(request.url())) reads.push(request.url());
  });
  await page.clock.fastForward(20_000);
  await page.clock.fastForward(20_000);
  expect(reads).toEqual([]);
  const { items } = await server.engine.ledger.confirmations({ state: "open" }, {});
  await server.runner.approve(items[0]?.confirmation.id ?? "", { by: { id: "boss" } });
  await expect.poll(async () => (await bubbles()).at(-1)).toContain(`reimburse: {"status":"ok"}`);
});

test("questions are answered inline", async () => {
  const server = await startInboxServer(resources);
  const { page, ask, sendNow, button, bubbles } = await openChat(server);
  await ask(ASK_USER);
  await page.getByLabel("Ohio (us)").check();
  await button("Send the answers").and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await page.locator(".badge", { hasText: "Succeeded" }).waitFor();
  await expect.poll(async () => (await bubbles()).at(-1)).toContain(`"answer":["Ohio (us)"]`);
});

test("a message that does not arrive comes back into the field, and survives a reload", async () => {
  const server = await startInboxServer(resources);
  const { page, say } = await openChat(server, { mayComplain: /ERR_|Failed/ });
  await page.getByText("Send a message to office").waitFor();
  await page.route("**/run_sse", (route) => route.abort());
  await say("words that took long to find");
  await page.getByRole("alert").getByText("The server cannot be reached").waitFor();
  expect(await page.getByLabel("Message").inputValue()).toBe("words that took long to find");
  await page.reload();
  expect(await page.getByLabel("Message").inputValue()).toBe("words that took long to find");
});

test("somebody who may act for others stays with them from session to session", async () => {
  const server = await startInboxServer(resources, { mode: "tokens" });
  const token = await server.tokenFor("desk", { scopes: ["run", "read", "decide", "act-as"] });
  await server.runner.send("first", { user: "ana", session: "one" });
  await server.runner.send("second", { user: "ana", session: "two" });
  const { page, bubbles } = await openChat(server, { token, path: "#/chat/office/one?user=ana" });
  await expect.poll(bubbles).toContain("first");
  await page.locator(".sessions").getByText("second").click();
  await expect.poll(bubbles).toContain("second");
});

test("sessions are called by their first words, also those that this browser has never opened", async () => {
  const goOn = Promise.withResolvers<void>();
  const model: Model = {
    name: "slow",
    async *generate({ contents }) {
      yield { parts: [{ text: "Once " }], partial: true };
      if (contents.at(-1)?.parts[0]?.text?.startsWith("Tell") === true) await goOn.promise;
      yield { parts: [{ text: "Once." }] };
    },
  };
  const server = await startInboxServer(resources, { model });
  await server.runner.send("Where is <b>my</b> order?", { user: "user", session: "one" });
  // Sessions of one millisecond have no order.
  await setTimeout(2);
  await server.runner.sessionService.createSession({ userId: "user", sessionId: "nothing-said" });
  const { page, say } = await openChat(server);
  const titles = page.locator(".sessions a > .words");
  await expect.poll(() => titles.allInnerTexts()).toHaveLength(3);
  await say(`Tell me about ${"very ".repeat(40)}old ships`);
  // Before it is answered.
  await expect.poll(() => titles.first().innerText()).toMatch(/^Tell me about very [a-z ]+…$/);
  goOn.resolve();
  expect((await titles.allInnerTexts()).slice(1)).toEqual(["Nothing said yet", "Where is <b>my</b> order?"]);
  await server.runner.sessionService.deleteSession({ userId: "user", sessionId: "one" });
  await page.reload();
  await expect.poll(() => titles.count()).toBe(2);
  expect(await page.content()).not.toContain("order?");
  expect(await page.evaluate("JSON.stringify({ ...localStorage })")).not.toContain("order?");
});
