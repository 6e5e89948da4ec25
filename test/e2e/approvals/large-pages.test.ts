import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import { Agent, type Confirmation, createEngine, type JsonObject, Runner, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import { effort } from "../../support/effort.ts";
import { useResources } from "../../support/resources.ts";
import type { LargeServerLine } from "./large-server.program.ts";

const resources = useResources();

// The fewer are still more than the heap of the server holds at once.
const PENDING = effort({ short: 15, long: 50 });
const LONG = 900_000;
const READERS = effort({ short: 12, long: 30 });
const HEAP_MB = 96;
const MOST_MEMORY_KB = 350_000;
const MOST_PAGE_BYTES = 1_200_000;

/** A database in which much waits, each with more arguments than anybody reads in a list. */
async function fill(file: string): Promise<void> {
  const engine = await createEngine({ ledger: `sqlite:${file}` });
  const model = scripted(({ contents }) => {
    const text = contents.at(-1)?.parts[0]?.text;
    const memo = `${text} ${"x".repeat(LONG)}`;
    return text === undefined ? "Done." : [{ functionCall: { name: "file", args: { to: text, memo } } }];
  });
  const filing = tool({
    name: "file",
    description: "Files.",
    parameters: { type: "object", properties: {} },
    requireConfirmation: true,
    confirmationHint: ({ memo }: JsonObject) => `File ${JSON.stringify(memo)}?`,
    execute: () => ({ filed: true }),
  });
  const runner = new Runner({
    agent: new Agent({ name: "clerk", model, instruction: "", tools: [filing] }),
    engine,
  });
  for (let i = 0; i < PENDING; i += 1) await runner.send(`report ${i}`, { user: "ana" });
  await runner.close();
  await engine.close();
}

async function peakMemoryKb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]);
}

test(`${READERS} people at once list ${PENDING} requests of 900 kB each from a server with a small heap`, async () => {
  const file = `${await resources.folder()}/ledger.db`;
  await fill(file);
  const server = resources.child<LargeServerLine>(new URL("large-server.program.ts", import.meta.url), {
    under: ["env", `NODE_OPTIONS=--max-old-space-size=${HEAP_MB}`],
    args: [file],
  });
  const { url } = await server.line("listening");
  const client = createClient({ baseUrl: url });
  const pages = await Promise.all(
    Array.from({ length: READERS }, async (_, i) => {
      const query = i % 3 === 0 ? "?limit=200" : i % 3 === 1 ? "?q=report" : "?status=all&mine=decidable";
      const answer = await fetch(`${url}/v1/confirmations${query}`);
      const text = await answer.text();
      return {
        status: answer.status,
        bytes: text.length,
        items: (JSON.parse(text) as { items: Confirmation[] }).items,
      };
    }),
  );
  for (const { status, bytes, items } of pages) {
    expect(status).toBe(200);
    expect(bytes).toBeLessThan(MOST_PAGE_BYTES);
    expect(items).toHaveLength(PENDING);
    expect(items.every(({ truncated, args }) => truncated === true && typeof args["to"] === "string")).toBe(
      true,
    );
  }
  const [first] = (await client.confirmations.list({ limit: 1 })).items;
  const whole = await client.confirmations.get(first?.id ?? "");
  expect(whole.truncated).toBeUndefined();
  expect(JSON.stringify(whole.args).length).toBeGreaterThan(LONG);
  const context = await client.confirmations.context(whole.id);
  expect(JSON.stringify(context).length).toBeLessThan(MOST_PAGE_BYTES);
  const streams = await Promise.all(
    Array.from({ length: 10 }, async () => {
      for await (const message of client.stream({ lastEventId: "none" }))
        if (message.type === "snapshot") return message.page.items.length;
      return 0;
    }),
  );
  expect(streams).toEqual(Array.from({ length: 10 }, () => PENDING));
  const audit = await fetch(`${url}/v1/audit?confirmation=${whole.id}`);
  expect(audit.status).toBe(200);
  await audit.text();
  expect(await peakMemoryKb(server.process.pid)).toBeLessThan(MOST_MEMORY_KB);
  expect(server.process.exitCode).toBeNull();
});
