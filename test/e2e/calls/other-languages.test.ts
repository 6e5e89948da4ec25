import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createApp, createAuth, Tokens } from "../../../src/http/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import { createEngine, type Engine } from "../../../src/index.ts";
import { useResources } from "../../support/resources.ts";

const resources = useResources();
const EXAMPLES = fileURLToPath(new URL("../../../examples/remote", import.meta.url));
const SLOW = fileURLToPath(new URL("slow-refund.py", import.meta.url));
const boss = { id: "boss", kind: "token", authenticated: true, scopes: ["decide"] } as const;

interface Gateway {
  readonly engine: Engine;
  /** What the programs were told to write to. */
  refunds(): Promise<readonly string[]>;
  run(command: string, ...args: readonly string[]): Program;
  /** Approves the one question that is or will be open. */
  approve(args?: { readonly amount: number; readonly customer: string }): Promise<void>;
}

interface Program {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>;
}

async function startGateway(): Promise<Gateway> {
  const folder = await resources.folder();
  const engine = await createEngine({ ledger: `sqlite:${join(folder, "ledger.db")}` });
  resources.add(() => engine.close());
  engine.work({ sweepMs: 200 });
  const auth = await createAuth({ mode: "tokens", ledger: engine.ledger });
  const app = createApp({ apps: {}, engine, auth });
  const server = await serve({ app, port: 0 });
  resources.add(() => server.close({ graceMs: 0 }));
  const tokens = new Tokens(engine.ledger.items);
  const agent = { user: "bot", kind: "agent", roles: [], scopes: ["propose"], createdBy: "test" } as const;
  const { secret } = await tokens.create(agent);
  const file = join(folder, "refunds.txt");
  const env = {
    ...process.env,
    COUNTERSIGN_URL: server.url,
    COUNTERSIGN_TOKEN: secret,
    REFUNDS: file,
    PYTHONPATH: EXAMPLES,
  };
  return {
    engine,
    refunds: async () => (await readFile(file, "utf8").catch(() => "")).split("\n").filter(Boolean),
    run: (command, ...args) => {
      const child = spawn(command, args, { env, cwd: EXAMPLES });
      resources.add(() => child.kill("SIGKILL"));
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream?.on("data", (data: Buffer) => {
          output += data.toString();
        });
      const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
        child.on("close", (code) => resolve({ code, output })),
      );
      return { child, ended };
    },
    approve: async (args) => {
      await expect.poll(() => engine.pending(), { timeout: 30_000 }).toHaveLength(1);
      const [open] = await engine.pending();
      await engine.approve(open?.id ?? "", { by: boss, ...(args === undefined ? {} : { args }) });
    },
  };
}

test("a Python function started twice under one key runs once, with what was approved", async () => {
  const gateway = await startGateway();
  const programs = [1, 2].map(() => gateway.run("python3", "refund.py", "order-17", "40", "bob"));
  await gateway.approve({ amount: 25, customer: "bob" });
  const ends = await Promise.all(programs.map(({ ended }) => ended));
  expect(ends).toEqual([
    { code: 0, output: "{'refunded': 25}\n" },
    { code: 0, output: "{'refunded': 25}\n" },
  ]);
  expect(await gateway.refunds()).toEqual(["bob 25"]);
  const again = gateway.run("python3", "refund.py", "order-17", "40", "bob");
  expect(await again.ended).toEqual({ code: 0, output: "{'refunded': 25}\n" });
  expect(await gateway.refunds()).toEqual(["bob 25"]);
});

test("a Python function killed inside its body is not started again: its outcome is unknown", async () => {
  const gateway = await startGateway();
  const first = gateway.run("python3", SLOW, "order-18");
  await gateway.approve();
  await expect.poll(() => gateway.refunds(), { timeout: 30_000 }).toEqual(["40"]);
  first.child.kill("SIGKILL");
  const { code, output } = await gateway.run("python3", SLOW, "order-18").ended;
  expect(code).toBe(1);
  expect(output).toContain("Do not run it again");
  expect(await gateway.refunds()).toEqual(["40"]);
});

test("a denial ends the Python program without a refund", async () => {
  const gateway = await startGateway();
  const { ended } = gateway.run("python3", "refund.py", "order-19", "40", "bob");
  await expect.poll(() => gateway.engine.pending(), { timeout: 30_000 }).toHaveLength(1);
  const [open] = await gateway.engine.pending();
  await gateway.engine.deny(open?.id ?? "", { by: boss, reason: "not this one" });
  const { code, output } = await ended;
  expect(code).toBe(1);
  expect(output).toContain("not this one");
  expect(await gateway.refunds()).toEqual([]);
});

test("the walk-through with curl asks, waits, claims and reports", async () => {
  const gateway = await startGateway();
  const { ended } = gateway.run("sh", "walkthrough.sh", "order-20");
  await gateway.approve();
  const { code, output } = await ended;
  expect({ code, output }).toEqual({
    code: 0,
    output:
      "The call waits for a person's approval. It has not run.\nrefunding 40 EUR\nThe call succeeded.\n",
  });
});

test.each([
  ["python3", ["refund.py", "order-21", "40", "bob"], "{'refunded': 40}\n"],
  ["sh", ["walkthrough.sh", "order-21"], /refunding 40 EUR\nThe call succeeded\.\n$/],
] as const)(
  "%s killed while it waits, and started again, finds its question and runs once",
  async (command, args, said) => {
    const gateway = await startGateway();
    const first = gateway.run(command, ...args);
    await expect.poll(() => gateway.engine.pending(), { timeout: 30_000 }).toHaveLength(1);
    const [asked] = await gateway.engine.pending();
    // Its curl may go on waiting: it only looks.
    const gone = once(first.child, "exit");
    first.child.kill("SIGKILL");
    await gone;
    const second = gateway.run(command, ...args);
    await gateway.approve();
    const { code, output } = await second.ended;
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(said) as string });
    expect(await gateway.engine.confirmation(asked?.id ?? "")).toMatchObject({ status: "succeeded" });
    const records = await gateway.engine.ledger.journal.records({ after: 0, limit: 100 });
    expect(records.filter(({ kind }) => kind === "confirmation-requested")).toHaveLength(1);
    expect(records.filter(({ kind }) => kind === "call-started")).toHaveLength(1);
  },
);

test("of two walk-throughs under one key one runs, and one that is started later does not", async () => {
  const gateway = await startGateway();
  const both = [1, 2].map(() => gateway.run("sh", "walkthrough.sh", "order-22"));
  await gateway.approve();
  const later = async () => gateway.run("sh", "walkthrough.sh", "order-22").ended;
  const ends = [...(await Promise.all(both.map(({ ended }) => ended))), await later()];
  expect(ends.filter(({ output }) => output.includes("refunding 40 EUR"))).toHaveLength(1);
  expect(ends.filter(({ code }) => code === 0)).toHaveLength(1);
  expect(ends.filter(({ output }) => output.includes("409"))).toHaveLength(2);
});
