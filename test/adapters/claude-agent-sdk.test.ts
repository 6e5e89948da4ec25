import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  type ClaudeGateOptions,
  createGate,
  type HookOutput,
  type SdkTool,
} from "../../src/adapters/claude-agent-sdk/index.ts";
import { Engine } from "../../src/engine/index.ts";
import type { JsonObject } from "../../src/protocol/index.ts";
import { createLedger } from "../../src/stores/index.ts";

// What the SDK's own program does with these answers is tested with it, in test/peers/claude-agent.

const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;
const { signal } = new AbortController();

async function openEngine(options: Partial<ConstructorParameters<typeof Engine>[0]> = {}): Promise<Engine> {
  const engine = new Engine({ ledger: await createLedger("memory:"), ...options });
  onTestFinished(() => engine.close());
  return engine;
}

/** One run: the gate, and what Claude Code would do with it. */
function open(engine: Engine, more: Partial<ClaudeGateOptions> = {}) {
  const gate = createGate({ engine, app: "shop", thread: "t1", rules: { Bash: true }, ...more });
  const [matcher] = gate.hooks.PreToolUse;
  const hook = async (use: JsonObject): Promise<HookOutput["hookSpecificOutput"]> => {
    const input = { hook_event_name: "PreToolUse", cwd: "/work", ...use };
    return (await matcher?.hooks[0]?.(input, undefined, { signal }))?.hookSpecificOutput;
  };
  return { gate, hook };
}

const bash = (id: string, command = "git push", more: JsonObject = {}): JsonObject => ({
  tool_name: "Bash",
  tool_use_id: id,
  tool_input: { command },
  ...more,
});

const permission = (id: string, running = signal): { signal: AbortSignal; toolUseID: string } => ({
  signal: running,
  toolUseID: id,
});
const extra = (id: string): object => ({ _meta: { "claudecode/toolUseId": id } });
const call = (tool: SdkTool, args: JsonObject, meta: object): Promise<unknown> =>
  tool.handler(args as never, meta);

function payTool(paid: unknown[]): SdkTool {
  return {
    name: "pay",
    description: "Pays.",
    inputSchema: { amount: z.number(), currency: z.string().default("EUR") },
    handler: async (args: JsonObject) => {
      paid.push(args);
      return { content: [{ type: "text", text: JSON.stringify(args) }] };
    },
  };
}

async function approve(engine: Engine, args?: JsonObject): Promise<void> {
  const [open1, ...others] = await engine.pending();
  expect(others).toEqual([]);
  await engine.approve(open1?.id ?? "", { by: ana, ...(args === undefined ? {} : { args }) });
}

describe("a tool that Claude Code runs itself", () => {
  test("pauses the run, is allowed once after the approval, and never again", async () => {
    const engine = await openEngine();
    expect(await open(engine).hook(bash("u1"))).toMatchObject({ permissionDecision: "defer" });
    expect(await engine.pending()).toMatchObject([
      { tool: "Bash", args: { command: "git push" }, hint: "Let Claude use Bash in /work?", session: "t1" },
    ]);
    await approve(engine);
    expect(await open(engine).hook(bash("u1"))).toEqual({
      hookEventName: "PreToolUse",
      permissionDecision: "allow",
    });
    expect(await open(engine).hook(bash("u1"))).toMatchObject({
      permissionDecision: "deny",
      permissionDecisionReason: expect.stringContaining("given only once") as string,
    });
  });

  test("gets the approver's input, and the model is told", async () => {
    const engine = await openEngine();
    const rules = { Bash: { amendable: ["command"] } };
    await open(engine, { rules }).hook(bash("u1"));
    await approve(engine, { command: "git push --dry-run" });
    expect(await open(engine, { rules }).hook(bash("u1"))).toMatchObject({
      permissionDecision: "allow",
      updatedInput: { command: "git push --dry-run" },
      additionalContext: expect.stringContaining("changed the input") as string,
    });
  });

  test("is asked about again in another folder, and with another input under its id not at all", async () => {
    const engine = await openEngine();
    await open(engine).hook(bash("u1"));
    await approve(engine);
    const elsewhere = await open(engine).hook(bash("u1", "git push", { cwd: "/other" }));
    expect(elsewhere).toMatchObject({ permissionDecision: "defer" });
    const other = await open(engine).hook(bash("u1", "rm -rf /"));
    expect(other).toMatchObject({ permissionDecision: "deny" });
    expect(await engine.pending()).toHaveLength(1);
  });

  test("is left to Claude Code without a rule, and judged by a policy", async () => {
    const use = { ...bash("u1"), tool_name: "Read" };
    expect(await open(await openEngine()).hook(use)).toBeUndefined();
    const engine = await openEngine({
      policy: ({ tool }) => (tool === "Read" ? { outcome: "deny", reason: "no reading" } : undefined),
    });
    expect(await open(engine).hook(use)).toMatchObject({
      permissionDecision: "deny",
      permissionDecisionReason: expect.stringContaining("no reading") as string,
    });
    expect(await open(engine, { rules: {} }).hook(bash("u2"))).toBeUndefined();
  });
});

test("a run pauses at one tool use: another one of the turn is refused, and leaves no question", async () => {
  const engine = await openEngine();
  const { gate, hook } = open(engine);
  expect(await hook(bash("u1"))).toMatchObject({ permissionDecision: "defer" });
  expect(await hook(bash("u2", "git pull"))).toMatchObject({ permissionDecision: "deny" });
  expect(await engine.pending()).toMatchObject([{ args: { command: "git push" } }]);
  expect(await gate.resume({ id: "u1" })).toMatchObject({ ready: false, waiting: [{ status: "pending" }] });
  await approve(engine);
  expect(await gate.resume({ id: "u1" })).toEqual({ ready: true });
  expect(await gate.resume({ id: "made up" })).toEqual({ ready: false, waiting: [] });
});

test("a button of the host's own front end is the decision of whoever is logged in", async () => {
  const engine = await openEngine();
  const { gate, hook } = open(engine);
  await hook(bash("u1"));
  const pressed = { id: "u1", approved: false, reason: "not now" };
  expect(await gate.record(pressed, { by: ana })).toMatchObject({ ok: true, call: { status: "denied" } });
  expect(await hook(bash("u1"))).toMatchObject({
    permissionDecision: "deny",
    permissionDecisionReason: expect.stringContaining("not now") as string,
  });
});

describe("canUseTool", () => {
  test("waits for a person, and gives the approval once", async () => {
    const engine = await openEngine();
    const { gate } = open(engine);
    const answer = gate.canUseTool("Write", { path: "a" }, permission("u1"));
    await expect.poll(() => engine.pending()).toHaveLength(1);
    await approve(engine);
    expect(await answer).toEqual({ behavior: "allow", updatedInput: { path: "a" } });
    expect(await gate.canUseTool("Write", { path: "a" }, permission("u1"))).toMatchObject({
      behavior: "deny",
    });
  });

  test("withdraws the question when the run is stopped", async () => {
    const engine = await openEngine();
    const stopping = new AbortController();
    const answer = open(engine).gate.canUseTool("Write", { path: "a" }, permission("u1", stopping.signal));
    await expect.poll(() => engine.pending()).toHaveLength(1);
    stopping.abort(new Error("stopped"));
    await expect(answer).rejects.toThrow("stopped");
    expect(await engine.pending()).toEqual([]);
  });
});

describe("a tool of the host", () => {
  test("runs once for its tool use, with the parsed arguments that were shown", async () => {
    const engine = await openEngine();
    const paid: unknown[] = [];
    const { gate, hook } = open(engine);
    const pay = gate.tool("shop", payTool(paid));
    const use = { tool_name: "mcp__shop__pay", tool_use_id: "u1", tool_input: { amount: 40, more: 1 } };
    expect(await hook(use)).toMatchObject({ permissionDecision: "defer" });
    expect(await engine.pending()).toMatchObject([{ tool: "pay", args: { amount: 40, currency: "EUR" } }]);
    await approve(engine);
    expect(await hook(use)).toMatchObject({ permissionDecision: "allow" });
    const args = { amount: 40, currency: "EUR" };
    const all = await Promise.all([1, 2, 3].map(() => call(pay, args, extra("u1"))));
    expect(all).toEqual(all.map(() => ({ content: [{ type: "text", text: JSON.stringify(args) }] })));
    expect(paid).toEqual([args]);
  });

  test("runs with the default that was shown, if it is another one at each parse", async () => {
    const engine = await openEngine();
    const paid: unknown[] = [];
    let made = 0;
    const newId = (): string => `order-${(made += 1)}`;
    const definition = {
      ...payTool(paid),
      inputSchema: { amount: z.number(), order: z.string().default(newId) },
    };
    const use = { tool_name: "mcp__shop__pay", tool_use_id: "u1", tool_input: { amount: 40 } };
    const first = open(engine);
    first.gate.tool("shop", definition);
    await first.hook(use);
    const [question] = await engine.pending();
    await approve(engine);

    const { gate, hook } = open(engine);
    const pay = gate.tool("shop", definition);
    expect(await hook(use)).toMatchObject({ permissionDecision: "allow" });
    await call(pay, { amount: 40, order: newId() }, extra("u1"));
    expect(paid).toEqual([question?.args]);
    await expect(call(pay, { amount: 50, order: newId() }, extra("u1"))).rejects.toMatchObject({
      code: "key-reused",
    });
  });

  test("does not run without the hook, nor without a tool use, and nobody is asked", async () => {
    const engine = await openEngine();
    const paid: unknown[] = [];
    const pay = open(engine).gate.tool("shop", payTool(paid));
    const args = { amount: 40, currency: "EUR" };
    const text = expect.stringContaining("the gate's hook is not installed") as string;
    expect(await call(pay, args, extra("u1"))).toEqual({ content: [{ type: "text", text }], isError: true });
    expect(await call(pay, args, {})).toMatchObject({ isError: true });
    expect(await engine.pending()).toEqual([]);
    expect(paid).toEqual([]);
  });

  test.each([
    ["acme.bank", "pay"],
    ["shop", "pay.now"],
    ["", "pay"],
  ])("must have names that Claude Code leaves as they are: %j %j", async (server, name) => {
    const { gate } = open(await openEngine());
    expect(() => gate.tool(server, { ...payTool([]), name })).toThrow("must have only letters");
  });

  test("is not asked about with an input that does not fit", async () => {
    const engine = await openEngine();
    const { gate, hook } = open(engine);
    gate.tool("shop", payTool([]));
    const use = { tool_name: "mcp__shop__pay", tool_use_id: "u1", tool_input: { amount: "40" } };
    expect(await hook(use)).toMatchObject({ permissionDecision: "deny" });
    expect(await engine.pending()).toEqual([]);
  });
});
