import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/protocol/index.ts";
import { ROOT } from "../architecture/repository.ts";
import { type Folder, makeFolder, type Started } from "../support/processes/command-line.ts";

const DEMO = ["demo", "--port", "0"];
const APPS = ["file_manager", "finance_assistant", "hitl_demo", "hr_assistant", "office_assistant"];
const AGENT = join(ROOT, "examples/agents/office_assistant");
const DB = ["--db", "sqlite:countersign-demo.db"];

interface Waiting {
  readonly id: string;
  readonly tool: string;
  readonly user: string;
  readonly hint: string;
  readonly args: JsonObject;
  readonly expiresAt?: string;
  readonly amendable?: unknown;
  readonly layout?: unknown;
  readonly schema?: JsonObject;
}

function open(folder: Folder): readonly Waiting[] {
  return (folder.json(["pending", ...DB]) as { readonly items: readonly Waiting[] }).items;
}

function byTool(folder: Folder, tool: string): Waiting {
  const found = open(folder).find((one) => one.tool === tool);
  if (found === undefined) throw new Error(`Nothing of ${tool} waits.`);
  return found;
}

function filesOf(folder: Folder): NodeJS.ProcessEnv {
  return { FILES_FOLDER: join(folder.path, "files") };
}

function changed(args: JsonObject): readonly string[] {
  return ["--args", JSON.stringify(args), "--agent", AGENT];
}

async function stop(server: Started): Promise<void> {
  server.signal("SIGINT");
  expect(await server.ended()).toMatchObject({ code: 0 });
}

async function startDemo(folder: Folder): Promise<{ readonly server: Started; readonly printed: string }> {
  const server = folder.start(DEMO, filesOf(folder));
  return { server, printed: await server.until("Ctrl-C stops it") };
}

test("the demo serves its agents, has one of each kind to decide, and says what to try, in 80 columns", async () => {
  const folder = makeFolder();
  const { server, printed } = await startDemo(folder);
  for (const app of APPS) expect(printed).toContain(`  ${app} `);
  const waiting = open(folder);
  expect(waiting.map(({ tool }) => tool).toSorted()).toEqual([
    "ask_user",
    "deploy",
    "edit_file",
    "reimburse",
    "request_time_off",
    "send_email",
  ]);
  const { id, ...reimburse } = byTool(folder, "reimburse");
  expect(reimburse).toMatchObject({
    user: "user",
    hint: "Reimburse 2,500 EUR for the team offsite in Lisbon?",
    args: { amount: 2500 },
    amendable: ["amount", "purpose"],
  });
  expect(byTool(folder, "edit_file").layout).toEqual({ diff: { before: "before", after: "after" } });
  expect(byTool(folder, "deploy").expiresAt).toBeDefined();
  expect(printed).toContain("6 requests wait for your decision");
  expect(printed).toContain(id.slice(-8));
  const [, url = ""] = /is running at (http:\S+)/.exec(printed) ?? [];
  expect(await (await fetch(`${url}/list-apps`)).json()).toEqual(APPS);
  expect(printed).not.toContain("\u001b");
  await stop(server);
});

test("what the demo's tools do is what was approved", async () => {
  const folder = makeFolder();
  const { server } = await startDemo(folder);
  const approve = (tool: string, ...how: string[]): string =>
    folder.run(["approve", byTool(folder, tool).id, ...how, "--wait", "20", ...DB], filesOf(folder)).stdout;
  const file = (name: string): string => readFileSync(join(folder.path, "files", name), "utf8");
  expect(approve("reimburse", ...changed({ amount: 2000 }))).toContain("Paid 2000 EUR");
  expect(file("payments.csv")).toBe('2000,EUR,"the team offsite in Lisbon"\n');
  expect(approve("edit_file")).toContain("Changed prices.md.");
  expect(file("prices.md")).toContain("- Team: 59 EUR a month\n");
  expect(approve("send_email", ...changed({ subject: "Paid" }))).toContain('Sent \\"Paid\\"');
  expect(file("outbox.txt")).toMatch(/^To: maria@example.com\nSubject: Paid\n\nHello Maria,/);
  const days = byTool(folder, "request_time_off").id;
  const tooMany = folder.run(["approve", days, "--payload", '{"approved_days":9}', ...DB]);
  expect(tooMany.code).not.toBe(0);
  expect(approve("request_time_off", "--payload", '{"approved_days":3}')).toContain("3 of 5 days off");
  expect(approve("ask_user", "--payload", '{"answer_1":"City hotel"}')).toContain("City hotel");
  await stop(server);
});

test("started again it finds what waits and asks for nothing new", async () => {
  const folder = makeFolder();
  const first = await startDemo(folder);
  await stop(first.server);
  const before = open(folder);
  expect(before).toHaveLength(6);
  const second = await startDemo(folder);
  expect(second.printed).toContain("6 requests wait");
  expect(open(folder)).toEqual(before);
  await stop(second.server);
});

test("a program gets one line of JSON", async () => {
  const server = makeFolder().start([...DEMO, "--json", "--db", "memory:"]);
  const printed = await server.until("}\n");
  expect(JSON.parse(printed)).toMatchObject({ ledger: "memory:", auth: "none" });
  await stop(server);
});
