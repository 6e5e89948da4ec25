// The inbox in Chromium: bytes of the first load, and script time of what a person does with 10,000 rows. A report, not a test.
import type { CDPSession, Page } from "playwright-core";
import { ensureWebBuilt } from "../scripts/build-web.ts";
import { createApp } from "../src/http/index.ts";
import { serve } from "../src/http/node/index.ts";
import { Agent, Runner, tool } from "../src/index.ts";
import { scripted } from "../src/models/scripted/index.ts";
import { launchBrowser } from "../test/support/browser/browser.ts";
import { scrolling, scrollingTable } from "./scrolling.ts";
import { median } from "./statistics.ts";

const ROWS = 10_000;
const PER_TURN = 20;
const SAMPLES = 15;
const GOAL_BYTES = 200_000;
const GOAL_MS = 50;

interface Line {
  readonly what: string;
  readonly measured: string;
  readonly goal: string;
  readonly met: boolean;
}

async function main(): Promise<void> {
  ensureWebBuilt();
  const runner = new Runner({ agent: busyAgent(), app: "busy", ledger: "memory:" });
  const server = await serve({ app: createApp({ apps: { busy: runner } }), port: 0 });
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
    const client = await page.context().newCDPSession(page);
    const lines = [await firstLoad(page, client, server.url)];
    process.stderr.write(`Asking for ${ROWS} approvals …\n`);
    for (let turn = 0; turn < ROWS / PER_TURN; turn += 1)
      await runner.send("work", { user: `user${turn % 50}` });
    await page.reload();
    await page.getByText(`${ROWS.toLocaleString("en")} waiting`).waitFor({ timeout: 120_000 });
    const scrolled = await scrolling(page, client);
    await client.send("Performance.enable", { timeDomain: "timeTicks" });
    lines.push(...(await interactions(page, client, runner)));
    process.stdout.write(`${toTable(lines)}${scrollingTable(scrolled)}`);
  } finally {
    await browser.close();
    await server.close({ graceMs: 0 });
    await runner.close();
  }
}

async function firstLoad(page: Page, client: CDPSession, url: string): Promise<Line> {
  await client.send("Network.enable");
  const files = new Set<string>();
  let bytes = 0;
  client.on("Network.responseReceived", ({ requestId, response }) => {
    if (/\/$|\/assets\//.test(new URL(response.url).pathname)) files.add(requestId);
  });
  client.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (files.has(requestId)) bytes += encodedDataLength;
  });
  await page.goto(url, { waitUntil: "load" });
  await page.getByText("Nothing waits for you").waitFor();
  const measured = `${(bytes / 1000).toFixed(1)} kB in ${files.size} files`;
  return {
    what: "first load, as sent",
    measured,
    goal: `≤ ${GOAL_BYTES / 1000} kB`,
    met: bytes <= GOAL_BYTES,
  };
}

async function interactions(page: Page, client: CDPSession, runner: Runner): Promise<readonly Line[]> {
  const settled = (): Promise<unknown> =>
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 80)))");
  const acts: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["open the next row (j)", () => page.keyboard.press("j")],
    ["scroll by a screen", () => page.mouse.wheel(0, 700)],
    ["tick a row", () => page.locator(".row-pick").nth(8).click()],
    ["type a letter into the search", () => typeLetter(page)],
    ["one new request arrives", () => runner.send("one", { user: "late" })],
  ];
  const lines: Line[] = [];
  await page.locator(".list-scroll").hover();
  for (const [what, act] of acts) {
    const samples: number[] = [];
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const before = await scriptMs(client);
      await act();
      await settled();
      samples.push((await scriptMs(client)) - before);
    }
    const worst = Math.max(...samples);
    const measured = `${median(samples).toFixed(1)} ms, worst ${worst.toFixed(1)} ms`;
    lines.push({ what, measured, goal: `≤ ${GOAL_MS} ms`, met: median(samples) <= GOAL_MS });
  }
  return lines;
}

async function typeLetter(page: Page): Promise<void> {
  const search = page.locator("#search");
  const typed = await search.inputValue();
  await search.fill(typed.length > 4 ? "" : `${typed}1`);
}

async function scriptMs(client: CDPSession): Promise<number> {
  const { metrics } = await client.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "ScriptDuration")?.value ?? 0) * 1000;
}

function toTable(lines: readonly Line[]): string {
  const rows = lines.map(
    ({ what, measured, goal, met }) => `| ${what} | ${measured} | ${goal} | ${met ? "met" : "missed"} |\n`,
  );
  return `\nThe inbox in Chromium, ${ROWS} rows waiting; script time, median of ${SAMPLES}.\n\n| what | measured | goal | |\n|---|---|---|---|\n${rows.join("")}`;
}

/** Asks for twenty approvals at once, or for one. */
function busyAgent(): Agent {
  const pay = tool({
    name: "pay",
    description: "Pays.",
    parameters: { type: "object", properties: {} },
    requireConfirmation: true,
    expiresInMs: 86_400_000,
    execute: () => ({ paid: true }),
  });
  let count = 0;
  const call = (): {
    readonly functionCall: {
      readonly name: string;
      readonly args: { readonly amount: number; readonly to: string };
    };
  } => ({
    functionCall: { name: "pay", args: { amount: ++count, to: `account ${count % 997}` } },
  });
  const model = scripted(({ contents }) => {
    const text = contents.at(-1)?.parts[0]?.text;
    return text === "work" ? Array.from({ length: PER_TURN }, call) : [call()];
  });
  return new Agent({ name: "busy", model, instruction: "Pay.", tools: [pay] });
}

await main();
