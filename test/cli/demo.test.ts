import { expect, test } from "vitest";
import { type Folder, makeFolder, type Started } from "../support/processes/command-line.ts";

const DEMO = ["demo", "--port", "0"];
const APPS = ["file_manager", "finance_assistant", "hitl_demo", "hr_assistant"];
const DB = ["--db", "sqlite:countersign-demo.db"];

interface Listed {
  readonly items: readonly { readonly id: string; readonly tool: string; readonly user: string }[];
}

function open(folder: Folder): Listed["items"] {
  return (folder.json(["pending", ...DB]) as Listed).items;
}

async function stop(server: Started): Promise<void> {
  server.signal("SIGINT");
  expect(await server.ended()).toMatchObject({ code: 0 });
}

test("the demo serves its agents, has something to approve, and says what to try, in 80 columns", async () => {
  const folder = makeFolder();
  const server = folder.start(DEMO);
  const printed = await server.until("Ctrl-C stops it");
  for (const app of APPS) expect(printed).toContain(`  ${app} `);
  const [waiting] = open(folder);
  expect(waiting).toMatchObject({ tool: "reimburse", user: "user", args: { amount: 2500 } });
  expect(printed).toContain(waiting?.id.slice(-8));
  const [, url = ""] = /is running at (http:\S+)/.exec(printed) ?? [];
  expect(await (await fetch(`${url}/list-apps`)).json()).toEqual(APPS);
  expect(printed).not.toContain("\u001b");
  await stop(server);
});

test("an approval from a second terminal runs in the demo", async () => {
  const folder = makeFolder();
  const server = folder.start(DEMO);
  await server.until("Ctrl-C stops it");
  const [waiting] = open(folder);
  const { code, stdout } = folder.run(["approve", waiting?.id ?? "", "--wait", "20", ...DB]);
  expect(code).toBe(0);
  expect(stdout).toContain('"status": "SUCCESS"');
  await stop(server);
});

test("started again it finds what waits and asks for nothing new", async () => {
  const folder = makeFolder();
  const first = folder.start(DEMO);
  await first.until("Ctrl-C stops it");
  await stop(first);
  const before = open(folder);
  expect(before).toHaveLength(1);
  const second = folder.start(DEMO);
  expect(await second.until("Ctrl-C stops it")).toContain(before[0]?.id.slice(-8));
  expect(open(folder)).toEqual(before);
  await stop(second);
});

test("a program gets one line of JSON", async () => {
  const server = makeFolder().start([...DEMO, "--json", "--db", "memory:"]);
  const printed = await server.until("}\n");
  expect(JSON.parse(printed)).toMatchObject({ ledger: "memory:", auth: "none" });
  await stop(server);
});
