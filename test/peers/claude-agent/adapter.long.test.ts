import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type ClaudeGate, createGate } from "../../../src/adapters/claude-agent-sdk/index.ts";
import { Engine } from "../../../src/engine/index.ts";
import { createLedger } from "../../../src/stores/index.ts";
import { runClaude } from "./claude.ts";

const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;
const TIME_MS = 240_000;

async function open(): Promise<{ engine: Engine; gate: () => ClaudeGate; cwd: string }> {
  const engine = new Engine({ ledger: await createLedger("memory:") });
  const cwd = mkdtempSync(join(tmpdir(), "countersign-coder-"));
  onTestFinished(async () => {
    await engine.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  return {
    engine,
    cwd,
    gate: () =>
      createGate({ engine, app: "coder", thread: "t1", rules: { Bash: { amendable: ["command"] } } }),
  };
}

const bash = (id: string, command: string): { id: string; name: string; input: object } => ({
  id,
  name: "Bash",
  input: { command, description: "a command" },
});

test("Claude Code's own tool waits in the ledger, and runs with the approver's input", {
  timeout: TIME_MS,
}, async () => {
  const { engine, gate, cwd } = await open();
  const options = { cwd, allowedTools: ["Bash"] };
  const turns = [{ tools: [bash("u1", "touch made.txt"), bash("u2", "touch second.txt")] }];
  const paused = await runClaude(gate(), { turns, text: "go", options });
  expect(paused.deferred).toMatchObject({ id: "u1", name: "Bash" });
  const [question, ...others] = await engine.pending();
  expect(others).toEqual([]);
  await engine.approve(question?.id ?? "", {
    by: ana,
    args: { command: "touch other.txt", description: "a command" },
  });

  const { deferred, told } = await runClaude(gate(), { turns: [], from: paused.stored, options });
  expect(deferred).toBeUndefined();
  expect(told["u2"]).toContain("Another tool use of this turn waits");
  const made = ["made.txt", "second.txt", "other.txt"].map((name) => existsSync(join(cwd, name)));
  expect(made).toEqual([false, false, true]);
});

test("with canUseTool the run waits for the decision in the ledger", { timeout: TIME_MS }, async () => {
  const { engine, cwd } = await open();
  const gate = createGate({ engine, app: "coder", thread: "t1" });
  const running = runClaude(gate, {
    turns: [{ tools: [bash("u1", "touch made.txt")] }],
    text: "go",
    options: { cwd, canUseTool: gate.canUseTool },
  });
  await expect.poll(() => engine.pending(), { timeout: TIME_MS / 2 }).toHaveLength(1);
  const [question] = await engine.pending();
  await engine.deny(question?.id ?? "", { by: ana, reason: "not today" });
  const { told } = await running;
  expect(told["u1"]).toContain("not today");
  expect(existsSync(join(cwd, "made.txt"))).toBe(false);
});
