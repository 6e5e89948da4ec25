import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { Engine } from "../../src/engine/index.ts";
import { createLedger } from "../../src/index.ts";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const SECRET = "a secret that only the processes know";
const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const ENV = { COUNTERSIGN_SECRET: SECRET, COUNTERSIGN_WEBHOOK_SECRET: WEBHOOK_SECRET };
const GUIDE = readFileSync(join(ROOT, "docs/guides/receipts.md"), "utf8");

async function withSession(folder: Folder, id = "s1"): Promise<void> {
  const engine = new Engine({ ledger: await createLedger(folder.ledger), secret: SECRET });
  await engine.createSession({ app: "bank", user: "ana", id }, {});
  await engine.close();
}

function published(folder: Folder, file = "worm.jsonl"): readonly string[] {
  return folder.read(file).trimEnd().split("\n");
}

test("the guide's commands publish and check, with the ledger and with the key alone", async () => {
  const folder = makeFolder();
  await withSession(folder);
  folder.write("receipts.yaml", "receipts: [{ name: worm, file: worm.jsonl }]");
  const commands = [...GUIDE.matchAll(/^npx countersign (audit .*?) *#/gm)].map(([, line = ""]) => line);
  expect(commands).toHaveLength(4);
  const key = folder.run(["audit", "key"], ENV).stdout.trim();
  expect(key).toMatch(/^[\w-]{43}$/);
  for (const line of commands) {
    const words = line.replace("KEY", key).split(" ");
    const env = words.includes("--key") ? {} : ENV;
    const { code, stdout, stderr } = folder.run(words, env);
    expect({ code, stderr }, line).toEqual({ code: 0, stderr: "" });
    for (const printed of stdout.split("\n")) expect(printed.length).toBeLessThanOrEqual(80);
    if (words.includes("verify")) expect(stdout).toContain("The receipts are intact: 1 receipt.");
  }
  expect(published(folder)).toHaveLength(1);
});

test("what does not fit is named, with exit code 1; what cannot be asked for, with 2", async () => {
  const folder = makeFolder();
  await withSession(folder);
  folder.write("r.yaml", "receipts: [{ name: worm, file: worm.jsonl }]");
  expect(folder.run(["audit", "publish", "r.yaml"], ENV).code).toBe(0);
  folder.write("worm.jsonl", folder.read("worm.jsonl").replace('"commits":1', '"commits":2'));
  const { code, stdout } = folder.run(["audit", "verify", "--receipts", "worm.jsonl"], ENV);
  expect(code).toBe(1);
  expect(stdout).toMatch(/The journal is intact[\s\S]*The receipts are NOT intact/);
  expect(stdout).toContain("worm.jsonl line 1: its signature does not fit");
  for (const words of [
    ["audit", "verify", "--key", "x".repeat(43)],
    ["audit", "verify", "--receipts", "worm.jsonl", "--key", "short"],
    ["audit", "verify", "a.gz", "--receipts", "worm.jsonl"],
    ["audit", "publish", "none.yaml"],
  ])
    expect(folder.run(words, ENV).code, words.join(" ")).toBe(2);
  expect(folder.run(["audit", "publish", "r.yaml"]).stderr).toContain("COUNTERSIGN_SECRET");
});

test("a server publishes on a schedule, and refuses a file with a mistake before it starts", async () => {
  const folder = makeFolder();
  await withSession(folder);
  folder.write("r.yaml", "receipts: [{ name: worm, file: worm.jsonl }]");
  const args = ["serve", "--inbox-only", "--port", "0", "--receipts", "r.yaml"];
  const server = folder.start(args, ENV);
  await server.until(/"target":"worm","number":1.*"msg":"a receipt was published"/);
  server.signal("SIGTERM");
  expect(await server.ended()).toMatchObject({ code: 0 });
  expect(folder.run(["audit", "verify", "--receipts", "worm.jsonl"], ENV).code).toBe(0);
  folder.write("r.yaml", "receipts: [{ name: worm }]");
  const refused = folder.run(args, ENV);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("r.yaml:1:12: a target needs one of");
});

interface Held {
  readonly id: string;
  readonly body: string;
  answer(): void;
}

/** An address whose answers the test gives by hand. */
async function slowReceiver(): Promise<{ readonly url: string; readonly next: () => Promise<Held> }> {
  const held: Held[] = [];
  const waiting: ((request: Held) => void)[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const one: Held = {
      id: String(request.headers["webhook-id"]),
      body,
      answer: () => response.writeHead(204).end(),
    };
    const waiter = waiting.shift();
    if (waiter === undefined) held.push(one);
    else waiter(one);
  };
  const server = createServer((request, response) => void take(request, response).catch(() => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    next: () => {
      const one = held.shift();
      return one === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(one);
    },
  };
}

test("of two processes at once one publishes; killed before it notes that, the same receipt comes again", async () => {
  const folder = makeFolder();
  await withSession(folder);
  const { url, next } = await slowReceiver();
  folder.write("r.yaml", `receipts: [{ name: auditor, url: "${url}" }]`);
  const publishing = folder.start(["audit", "publish", "r.yaml"], ENV);
  const first = await next();
  const other = folder.run(["audit", "publish", "r.yaml"], ENV);
  expect(other.stderr).toContain("Another process publishes receipts now");
  publishing.signal("SIGKILL");
  await publishing.ended();
  // The lease of a process that died ends after a minute; here somebody ends it.
  const ledger = await createLedger(folder.ledger);
  const { version = 0 } = (await ledger.items.get("receipts", "lease")) ?? {};
  expect(await ledger.items.remove({ kind: "receipts", id: "lease", version })).toBe(true);
  await ledger.close();
  await withSession(folder, "s2");
  const again = folder.start(["audit", "publish", "r.yaml"], ENV);
  const second = await next();
  expect({ id: second.id, body: second.body }).toEqual({ id: first.id, body: first.body });
  second.answer();
  const third = await next();
  expect(third.id).toMatch(/_2$/);
  third.answer();
  expect(await again.ended()).toMatchObject({ code: 0 });
  const stored = [first, second, third].map(({ body }) => {
    const { data } = JSON.parse(body) as { readonly data: unknown };
    return JSON.stringify(data);
  });
  folder.write("stored.jsonl", `${stored.join("\n")}\n`);
  const checked = folder.run(["audit", "verify", "--receipts", "stored.jsonl"], ENV);
  expect(checked.stdout).toContain("The receipts are intact: 2 receipts.");
});
