import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { ensurePeer } from "../../../scripts/test-tools.ts";
import { ENTRY } from "../../support/processes/command-line.ts";
import { boss, type GateServer, useGateServer } from "./gate-server.ts";
import { type ModelServer, startModel } from "./model-server.ts";

// The program of the Claude Agent SDK, with a model on this machine.

const startServer = useGateServer();
const TIME_MS = 240_000;
/** The package is large. */
const INSTALL_MS = 900_000;
let cli = "";

beforeAll(() => {
  const packages = join(ensurePeer("claude-agent"), "node_modules", "@anthropic-ai");
  cli = join(packages, `claude-agent-sdk-${process.platform}-${process.arch}`, "claude");
}, INSTALL_MS);

interface Session {
  readonly model: ModelServer;
  /** Resolves to the output when Claude Code has ended. */
  readonly ended: Promise<string>;
}

/** Claude Code with one prompt, whose model wants to use Bash once. */
async function startClaude(
  server: GateServer,
  { command, settings = {}, args = [] }: { command: string; settings?: object; args?: readonly string[] },
): Promise<Session> {
  const model = await startModel([
    { tools: [{ id: "toolu_1", name: "Bash", input: { command, description: "a command" } }] },
  ]);
  onTestFinished(() => model.close());
  const child = spawn(cli, ["-p", "go", "--settings", JSON.stringify(settings), ...args], {
    cwd: server.folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...server.env,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    },
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  return { model, ended: new Promise((resolve) => child.on("close", () => resolve(output))) };
}

const countersign = (...words: readonly string[]): string =>
  [process.execPath, ENTRY, ...words].map((word) => `'${word}'`).join(" ");

function hooked(command: string, more: object = {}): object {
  const hooks = [{ type: "command", command, timeout: 200, ...more }];
  return { hooks: { PreToolUse: [{ matcher: "*", hooks }] } };
}

const HOOK = { settings: hooked(countersign("hook", "claude-code"), { onFailure: "block" }) };
const TOUCH = "touch made.txt";

const made = ({ folder }: GateServer, name = "made.txt"): boolean => existsSync(join(folder, name));

test("an approval lets the tool run, with the input that the approver changed", {
  timeout: TIME_MS,
}, async () => {
  const server = await startServer();
  const { model, ended } = await startClaude(server, { command: TOUCH, ...HOOK });
  expect(await server.question()).toMatchObject({ tool: "Bash", args: { command: TOUCH } });
  expect(made(server)).toBe(false);
  await server.approve({ command: "touch other.txt", description: "a command" });
  await ended;
  expect(model.toolResults).toMatchObject([{ id: "toolu_1", isError: false }]);
  expect([made(server), made(server, "other.txt")]).toEqual([false, true]);
});

test("a denial stops the tool, and the model is told why", { timeout: TIME_MS }, async () => {
  const server = await startServer();
  const args = ["--allowedTools", "Bash"];
  const { model, ended } = await startClaude(server, { command: TOUCH, ...HOOK, args });
  const { id } = await server.question();
  await server.engine.deny(id, { by: boss, reason: "not today" });
  await ended;
  expect(model.toolResults).toMatchObject([
    { isError: true, text: expect.stringContaining("not today") as string },
  ]);
  expect(made(server)).toBe(false);
});

test.each([
  ["cannot reach the server", HOOK.settings, "cannot be reached"],
  ["cannot be started", hooked("/nowhere/countersign hook claude-code", { onFailure: "block" }), ""],
])(
  "a hook that %s stops the tool, whatever else is allowed",
  { timeout: TIME_MS },
  async (_, settings, message) => {
    const server = await startServer();
    await server.stop();
    const args = ["--allowedTools", "Bash"];
    const { model, ended } = await startClaude(server, { command: TOUCH, settings, args });
    await ended;
    expect(model.toolResults).toMatchObject([
      { isError: true, text: expect.stringContaining(message) as string },
    ]);
    expect(made(server)).toBe(false);
  },
);

test("what the policy does not ask about is left to Claude Code", { timeout: TIME_MS }, async () => {
  const server = await startServer();
  const { model, ended } = await startClaude(server, { command: "ls", ...HOOK });
  await ended;
  expect(model.toolResults).toMatchObject([{ isError: false }]);
  expect(await server.engine.pending()).toEqual([]);
});

test("the permission prompt is answered in the inbox", { timeout: TIME_MS }, async () => {
  const server = await startServer();
  const servers = {
    countersign: { command: process.execPath, args: [ENTRY, "permission-prompt"], env: server.env },
  };
  const args = [
    "--mcp-config",
    JSON.stringify({ mcpServers: servers }),
    "--permission-prompt-tool",
    "mcp__countersign__approve",
  ];
  const approved = await startClaude(server, { command: TOUCH, args });
  await server.approve();
  await approved.ended;
  expect(approved.model.toolResults).toMatchObject([{ isError: false }]);
  expect(made(server)).toBe(true);
  // The same id in another session is another tool use: the approval of then is not one of now.
  const reused = await startClaude(server, { command: TOUCH, args });
  await reused.ended;
  expect(reused.model.toolResults).toMatchObject([
    { isError: true, text: expect.stringContaining("an approval is given only once") as string },
  ]);
});

test("a deferred run ends, and goes on when it is resumed after the approval", {
  timeout: TIME_MS,
}, async () => {
  const server = await startServer();
  const settings = hooked(countersign("hook", "claude-code", "--defer", "--wait", "2s"), {
    onFailure: "block",
  });
  const session = "5f0c2c1e-53a1-4b3a-9f0e-0d3b0f6f2a11";
  const first = await startClaude(server, { command: TOUCH, settings, args: ["--session-id", session] });
  await first.ended;
  expect(first.model.toolResults).toEqual([]);
  expect(made(server)).toBe(false);
  await server.approve();
  const second = await startClaude(server, { command: TOUCH, settings, args: ["--resume", session] });
  await second.ended;
  expect(second.model.toolResults).toMatchObject([{ id: "toolu_1", isError: false }]);
  expect(made(server)).toBe(true);
});
