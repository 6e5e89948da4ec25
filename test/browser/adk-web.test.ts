import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rootAgent } from "../../examples/agents/hitl_demo/agent.ts";
import { Agent, createEngine, type Engine, Runner } from "../../src/index.ts";
import { useBrowser, type WatchedPage } from "../support/browser/browser.ts";
import { useResources } from "../support/resources.ts";
import { serveAdkWeb } from "./adk-web.ts";

const resources = useResources();
const open = useBrowser();
const TWO = "reimburse 1500 for hotel and reimburse 2500 for flight";

let engine: Engine;
let runner: Runner;
let url: string;
let watched: WatchedPage;
let page: Page;

beforeEach(async () => {
  engine = await createEngine({ ledger: "memory:" });
  resources.add(() => engine.close());
  const { model, tools } = rootAgent;
  if (model === undefined) throw new TypeError("The demo's model is a script.");
  const twin = new Agent({ name: "another_app", model, tools });
  const runners = [twin, rootAgent].map((agent) => new Runner({ agent, engine }));
  for (const one of runners) resources.add(() => one.close());
  const [another, demo] = runners;
  if (another === undefined || demo === undefined) throw new TypeError("There are two.");
  runner = demo;
  url = await serveAdkWeb(resources, { apps: { another_app: another, hitl_demo: demo } });
  watched = await open();
  page = watched.page;
  page.setDefaultTimeout(60_000);
});

afterEach(() => {
  if (watched.errors.length > 0) throw new Error(`The page threw: ${watched.errors.join("\n")}`);
});

/** What is said in the chat, a line a row. */
const rows = (): Locator => page.locator("app-event-row");
/** Confirmations that wait for an answer. */
const dialogs = (): Locator => page.locator("app-long-running-response");

async function say(text: string): Promise<void> {
  await page.locator("textarea").fill(text);
  await page.keyboard.press("Enter");
}

async function submit(dialog: Locator, confirmed: boolean): Promise<void> {
  await dialog.getByRole("checkbox").setChecked(confirmed);
  await dialog.getByRole("button", { name: "Submit" }).click();
}

async function sees(text: string): Promise<void> {
  await rows().filter({ hasText: text }).last().waitFor();
}

async function pendingIds(): Promise<readonly string[]> {
  return (await runner.pending()).map(({ id }) => id);
}

test("somebody chooses an app, chats, sees a confirmation and approves it", async () => {
  await page.goto(url);
  await page.getByRole("button", { name: "Select an app" }).click();
  await page.getByText("hitl_demo").click();
  await say("hello");
  await sees("You said: hello");
  await say("reimburse 1500 for hotel");
  await sees("adk_request_confirmation");
  expect(await dialogs().count()).toBe(1);
  expect(await dialogs().textContent()).toMatch(/Please approve or reject.*hotel.*1500/s);
  await submit(dialogs(), true);
  await sees("Tool reimburse answered: status=ok, purpose=hotel, amount=1500");
  expect([await dialogs().count(), await pendingIds()]).toEqual([0, []]);
});

test("a rejection reaches the model, and the tool does not run", async () => {
  await page.goto(`${url}?app=hitl_demo`);
  await say("reimburse 1500 for hotel");
  await submit(dialogs(), false);
  await sees("Tool reimburse answered: error=tool call was rejected by the user");
  expect(await dialogs().count()).toBe(0);
});

test("a tool that asks for a payload is not given its own arguments for one", async () => {
  await page.goto(`${url}?app=hitl_demo`);
  await say("time off 5");
  await submit(dialogs(), true);
  await sees("Tool request_time_off answered: status=rejected, approved_days=0");
  expect(await dialogs().count()).toBe(0);
});

test("a page that is loaded again while a confirmation waits shows it again", async () => {
  await page.goto(`${url}?app=hitl_demo`);
  await say("reimburse 1500 for hotel");
  await dialogs().waitFor();
  await page.reload();
  await dialogs().waitFor();
  await submit(dialogs(), true);
  await sees("Tool reimburse answered: status=ok");
  await page.reload();
  await sees("Tool reimburse answered: status=ok");
  expect(await dialogs().count()).toBe(0);
});

test("several confirmations are answered one by one, and the model waits for the last", async () => {
  await page.goto(`${url}?app=hitl_demo`);
  await say(TWO);
  await dialogs().nth(1).waitFor();
  await submit(dialogs().filter({ hasText: "hotel" }), true);
  await dialogs().filter({ hasText: "hotel" }).waitFor({ state: "detached" });
  expect(await pendingIds()).toHaveLength(1);
  expect(await rows().filter({ hasText: "Tool reimburse answered" }).count()).toBe(0);
  await submit(dialogs(), false);
  await sees("Tool reimburse answered: status=ok, purpose=hotel, amount=1500;");
});

test("an answer that comes after another decision is told so, and the page shows what was decided", async () => {
  await page.goto(`${url}?app=hitl_demo`);
  await say("reimburse 1500 for hotel");
  await dialogs().waitFor();
  const [id = ""] = await pendingIds();
  await (await runner.deny(id, { by: { id: "boss" } })).finished;
  await submit(dialogs(), true);
  await page.locator(".mat-mdc-snack-bar-container").filter({ hasText: "boss denied this" }).waitFor();
  await page.reload();
  await sees("Tool reimburse answered: error=tool call was rejected by the user");
  expect(await dialogs().count()).toBe(0);
});

test("an answer that another has given already gets what came of it", async () => {
  await page.goto(`${url}?app=hitl_demo`);
  await say("reimburse 1500 for hotel");
  await dialogs().waitFor();
  const [id = ""] = await pendingIds();
  await (await runner.approve(id, { by: { id: "boss" } })).finished;
  await submit(dialogs(), true);
  await sees("Tool reimburse answered: status=ok, purpose=hotel, amount=1500");
  expect(await rows().filter({ hasText: "Tool reimburse answered" }).count()).toBe(1);
});

test("sessions are listed by name and time, and opened again", async () => {
  await page.goto(`${url}?app=hitl_demo`);
  await say("reimburse 1500 for hotel");
  await dialogs().waitFor();
  await page.getByRole("button", { name: "New Session" }).click();
  await say("hello there");
  await sees("You said: hello there");
  await page.locator('[mattooltip="Select a session"]').click();
  const items = page.locator(".session-item");
  await items.nth(1).waitFor();
  const names = await items.locator(".session-id").allTextContents();
  expect(names.toSorted()).toEqual(["hello there", "reimburse 1500 for hotel"]);
  const year = `/${new Date().getFullYear()},`;
  for (const date of await items.locator(".session-date").allTextContents()) expect(date).toContain(year);
  await items.filter({ hasText: "reimburse 1500" }).locator(".session-id").click();
  await submit(dialogs(), true);
  await sees("Tool reimburse answered: status=ok");
});
