import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { command } from "../../../scripts/command.ts";
import { ensurePeer } from "../../../scripts/test-tools.ts";
import { createEngine, type Engine } from "../../../src/index.ts";
import { useBrowser } from "../../support/browser/browser.ts";
import { useResources } from "../../support/resources.ts";
import type { startChat } from "./chat-server.ts";

// `useChat` of the AI SDK in a real browser: its own buttons, and decisions that are taken elsewhere.

const resources = useResources();
const newPage = useBrowser();
const TIMEOUT = 120_000;
const ana = { id: "ana", authenticated: true };
let files = "";

beforeAll(async () => {
  const root = ensurePeer("use-chat");
  files = mkdtempSync(join(tmpdir(), "countersign-use-chat-"));
  await build({ root, configFile: false, logLevel: "error", build: { outDir: files, emptyOutDir: true } });
}, 900_000);

afterAll(() => rmSync(files, { recursive: true, force: true }));

interface Chat {
  readonly engine: Engine;
  readonly page: Page;
  readonly paid: readonly number[];
  readonly question: string;
}

/** A page on which this user has sent a message, and the call waits. */
async function paused(user: string): Promise<Chat> {
  const engine = await createEngine({ ledger: "memory:" });
  resources.add(() => engine.close());
  const { startChat: start } = (await import("./chat-server.ts")) as { startChat: typeof startChat };
  const { url, paid } = await start(resources, { engine, files });
  const { page } = await newPage();
  await page.context().addCookies([{ name: "user", value: user, url }]);
  await page.goto(url);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Approve" }).waitFor();
  expect(paid).toEqual([]);
  const [asked, ...others] = await engine.pending();
  expect(others).toEqual([]);
  return { engine, page, paid, question: asked?.id ?? "" };
}

const card = (page: Page) => page.getByRole("region", { name: "call-1" });

test("the page fits the AI SDK's own types", () => {
  expect(command("tsc", ["--noEmit", "-p", "test/peers/use-chat"])).toMatchObject({ status: 0, stdout: "" });
});

test("its own Approve button decides as whoever is logged in", { timeout: TIMEOUT }, async () => {
  const { engine, page, paid, question } = await paused("ana");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Done.").waitFor();
  await expect.poll(() => card(page).innerText()).toContain('{"paid":40}');
  expect(paid).toEqual([40]);
  const { votes } = await engine.confirmation(question);
  expect(votes).toMatchObject([{ by: { id: "ana" }, via: "ai-sdk" }]);
});

test("its own Deny button ends the call, and the model goes on", { timeout: TIMEOUT }, async () => {
  const { engine, page, paid, question } = await paused("ana");
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByText("Done.").waitFor();
  expect(await engine.confirmation(question)).toMatchObject({ status: "denied" });
  expect(paid).toEqual([]);
});

test("somebody who may not decide presses it in vain, and the question stays", {
  timeout: TIMEOUT,
}, async () => {
  const { engine, page, paid, question } = await paused("eve");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("alert").waitFor();
  expect(paid).toEqual([]);
  expect(await engine.pending()).toMatchObject([{ id: question }]);
  await engine.approve(question, { by: ana });
  await page.getByText("Done.").waitFor();
  expect(paid).toEqual([40]);
});

test("a decision that is taken elsewhere reaches the open page, with changed arguments", {
  timeout: TIMEOUT,
}, async () => {
  const { engine, page, paid, question } = await paused("eve");
  await engine.approve(question, { by: ana, args: { amount: 20 } });
  await page.getByText("Done.").waitFor();
  await expect.poll(() => card(page).innerText()).toContain("20");
  expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  expect(paid).toEqual([20]);
});
