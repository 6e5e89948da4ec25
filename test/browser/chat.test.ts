import { expect, test } from "vitest";
import { axeFaults } from "../support/axe.ts";
import { useBrowser } from "../support/browser.ts";
import { type InboxPage, openInbox } from "../support/inbox-page.ts";
import { type Office, openOffice, type WantedCall } from "../support/office.ts";
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

async function openChat(office: Office, token?: string): Promise<Chat> {
  const options = token === undefined ? {} : { mayComplain: /401/ };
  const inbox = await openInbox(resources, { newPage, url: office.url, path: "#/chat", ...options });
  const { page } = inbox;
  if (token !== undefined) {
    await page.getByLabel(/^Token/).fill(token);
    await page.getByRole("button", { name: "Log in" }).click();
  }
  await page.getByRole("button", { name: "New chat with office" }).click();
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
  const office = await openOffice(resources);
  const { page, say, bubbles } = await openChat(office);
  await say("hello");
  await expect.poll(bubbles).toEqual(["hello", "assistant\nYou said: hello"]);
  expect(await axeFaults(page)).toEqual([]);
  await page.reload();
  await expect.poll(bubbles).toEqual(["hello", "assistant\nYou said: hello"]);
  await expect.poll(() => page.locator(".sessions a[aria-current]").count()).toBe(1);
});

test("calls wait inline, are decided one by one, and decisions are never messages", async () => {
  const office = await openOffice(resources);
  const { page, ask, bubbles, sendNow } = await openChat(office);
  await ask(LUNCH, MAIL);
  const [lunch, mail] = [page.locator(".tool").nth(0), page.locator(".tool").nth(1)];
  await lunch.getByText("Pending approval").waitFor();
  await mail.getByText("Pending approval").waitFor();
  await page.getByText("2 calls wait for approval").waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await lunch.getByRole("button", { name: "Approve" }).and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await lunch.getByText("Approved, completed").waitFor();
  expect(await bubbles()).toHaveLength(1);
  await mail.getByRole("button", { name: "Reject…" }).and(page.locator("[aria-disabled=false]")).click();
  await page.keyboard.type("no");
  await mail.getByRole("button", { name: "Reject" }).click();
  await sendNow();
  await mail.getByText("Rejected", { exact: true }).waitFor();
  await expect.poll(async () => (await bubbles()).length).toBe(2);
  expect((await bubbles())[1]).toContain("rejected by the user");
  await page.reload();
  await lunch.getByText("Approved, completed").waitFor();
  await mail.getByText("Rejected", { exact: true }).waitFor();
  expect(await bubbles()).toHaveLength(2);
  expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  expect(office.ran).toEqual([LUNCH]);
});

test("one talks on while something is pending, and approves all above several", async () => {
  const office = await openOffice(resources);
  const { page, ask, say, bubbles, button, sendNow } = await openChat(office);
  await ask(LUNCH, MAIL);
  await page.getByText("2 calls wait for approval").waitFor();
  await say("still there?");
  await expect.poll(async () => (await bubbles()).at(-1)).toContain("You said: still there?");
  expect(office.ran).toEqual([]);
  await button("Approve all…").click();
  await page
    .getByRole("button", { name: "Approve all 2" })
    .and(page.locator("[aria-disabled=false]"))
    .click();
  await sendNow();
  await expect.poll(() => page.getByText("Approved, completed").count()).toBe(2);
  expect(office.ran).toEqual([LUNCH, MAIL]);
  await expect.poll(async () => (await bubbles()).at(-1)).toContain("have arrived");
});

test("what is decided elsewhere shows here by itself, with what the agent then says", async () => {
  const office = await openOffice(resources);
  const { page, ask, bubbles } = await openChat(office);
  await ask(LUNCH);
  await page.getByText("Pending approval").waitFor();
  const { items } = await office.engine.ledger.confirmations({ state: "open" }, {});
  await office.runner.approve(items[0]?.confirmation.id ?? "", { by: { id: "boss" } });
  await page.getByText("Approved by boss").waitFor();
  await expect.poll(async () => (await bubbles()).at(-1)).toContain(`reimburse: {"status":"ok"}`);
});

test("a nested agent's call is shown as such, with the inner tool", async () => {
  const office = await openOffice(resources);
  const { page, ask, bubbles, sendNow } = await openChat(office);
  await ask({ name: "clerk", args: { request: "file the report" } });
  const inner = page.locator(".tool", { hasText: "file_report" });
  await inner.getByText("by assistant › clerk").waitFor();
  await inner.getByRole("button", { name: "Approve" }).and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await inner.getByText("Approved, completed").waitFor();
  await expect.poll(async () => (await bubbles()).at(-1)).toContain("clerk:");
  expect(office.ran).toEqual([{ name: "file_report", args: { title: "Q3 audit", pages: 12 } }]);
});

test("a question with a form is answered inline", async () => {
  const office = await openOffice(resources);
  const { page, ask, sendNow } = await openChat(office);
  await ask({ name: "request_time_off", args: { days: 5 } });
  await page.getByLabel(/approved_days/).fill("2");
  await page.getByRole("button", { name: "Approve" }).and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await page.getByText("Approved, completed").waitFor();
  await page.getByText(`{"granted":{"approved_days":2}}`).waitFor();
  expect(office.ran).toEqual([{ name: "request_time_off", args: { days: 5 } }]);
});

test("with auth on, one talks as oneself and decides one's own", async () => {
  const office = await openOffice(resources, { mode: "tokens" });
  const { page, ask, sendNow } = await openChat(office, await office.tokenFor("ana"));
  await ask(LUNCH, { name: "wire_money", args: { amount: 5, to: "me" } });
  const [lunch, wire] = [page.locator(".tool").nth(0), page.locator(".tool").nth(1)];
  await wire.getByText("Only anyone with the role treasurer").waitFor();
  await lunch.getByRole("button", { name: "Approve" }).and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await lunch.getByText("Approved by ana").waitFor();
  expect(office.ran).toEqual([LUNCH]);
});
