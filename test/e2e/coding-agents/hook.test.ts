import { describe, expect, test } from "vitest";
import { boss, type Ended, useGateServer } from "./gate-server.ts";

const startServer = useGateServer();

/** What Claude Code gives to a hook. */
function claudeInput(command: string, more: object = {}): string {
  return JSON.stringify({
    session_id: "5c1e",
    transcript_path: "/home/ana/.claude/projects/shop/5c1e.jsonl",
    cwd: "/home/ana/shop",
    prompt_id: "65c4",
    permission_mode: "default",
    effort: { level: "medium" },
    hook_event_name: "PreToolUse",
    tool_name: "Bash",
    tool_input: { command, description: "what it does" },
    tool_use_id: "toolu_1",
    ...more,
  });
}

const CLAUDE = ["hook", "claude-code"];
const PUSH = claudeInput("git push origin main");

function decisionOf({ code, stdout, stderr }: Ended): unknown {
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return (JSON.parse(stdout) as { hookSpecificOutput: unknown }).hookSpecificOutput;
}

/** By an answer, or by the exit code if the machine is so slow that the hook gave up. */
function expectBlocked({ code, stdout }: Ended): void {
  if (code !== 2) expect(stdout).toMatch(/"(permissionDecision|decision)":"deny"/);
}

const ALLOWED = {
  hookEventName: "PreToolUse",
  permissionDecision: "allow",
  permissionDecisionReason: "allowed by Countersign",
};

const denied = (reason: string): object => ({
  hookEventName: "PreToolUse",
  permissionDecision: "deny",
  permissionDecisionReason: reason,
});

describe("hook claude-code", () => {
  test("asks about a command, and says allow after the approval", async () => {
    const server = await startServer();
    const { ended } = server.start(CLAUDE, PUSH);
    expect(await server.question()).toMatchObject({
      app: "coding-agents",
      agent: "claude-code",
      tool: "Bash",
      hint: "Let Claude Code use Bash in /home/ana/shop?",
      args: { command: "git push origin main", description: "what it does", agent_cwd: "/home/ana/shop" },
    });
    await server.approve();
    expect(decisionOf(await ended)).toEqual(ALLOWED);
  });

  test("leaves what the policy does not ask about to the agent, and allows it with --trust-policy", async () => {
    const server = await startServer();
    const read = claudeInput("cat notes.txt");
    expect(await server.start(CLAUDE, read).ended).toEqual({ code: 0, stdout: "", stderr: "" });
    // The same tool use again gets the same answer: no approval is used up.
    expect(await server.start(CLAUDE, read).ended).toEqual({ code: 0, stdout: "", stderr: "" });
    const trusting = server.start(
      [...CLAUDE, "--trust-policy"],
      claudeInput("ls", { tool_use_id: "toolu_2" }),
    );
    expect(decisionOf(await trusting.ended)).toEqual(ALLOWED);
    expect(await server.engine.pending()).toEqual([]);
  });

  test("denies with the policy's reason, and with the person's", async () => {
    const server = await startServer();
    const forced = server.start(CLAUDE, claudeInput("git push -f", { tool_use_id: "toolu_2" }));
    expect(decisionOf(await forced.ended)).toEqual(
      denied(expect.stringContaining("history is not rewritten by agents") as string),
    );
    const asked = server.start(CLAUDE, PUSH);
    const { id } = await server.question();
    await server.engine.deny(id, { by: boss, reason: "not on a Friday" });
    expect(decisionOf(await asked.ended)).toEqual(
      denied("The call was denied and did not run: not on a Friday"),
    );
    // A denial is final: the same tool use is denied again.
    expect(decisionOf(await server.start(CLAUDE, PUSH).ended)).toMatchObject({ permissionDecision: "deny" });
  });

  test("gives the changed input to the agent", async () => {
    const server = await startServer();
    const { ended } = server.start(CLAUDE, PUSH);
    await server.approve({ command: "git push origin review", description: "what it does" });
    expect(decisionOf(await ended)).toEqual({
      ...ALLOWED,
      updatedInput: { command: "git push origin review", description: "what it does" },
      additionalContext: expect.stringContaining("The approver changed the input") as string,
    });
  });

  test("asks about a folder that the approver cannot change", async () => {
    const server = await startServer();
    const { ended } = server.start(CLAUDE, PUSH);
    const { id, args } = await server.question();
    await expect(
      server.engine.approve(id, { by: boss, args: { ...args, agent_cwd: "/home/ana/other" } }),
    ).rejects.toMatchObject({ code: "arguments-mismatch" });
    // The approval is for that folder only.
    const elsewhere = server.start(CLAUDE, claudeInput("git push origin main", { cwd: "/home/ana/other" }));
    expect(await elsewhere.ended).toMatchObject({ code: 2, stdout: "" });
    await server.approve();
    expect(decisionOf(await ended)).toEqual(ALLOWED);
  });

  test("doubled, asks one question, and one of them gets its answer", async () => {
    const server = await startServer();
    const both = [server.start(CLAUDE, PUSH), server.start(CLAUDE, PUSH)] as const;
    await expect.poll(() => server.traffic.proposals, { timeout: 40_000 }).toBe(2);
    await server.approve();
    const decisions = [decisionOf(await both[0].ended), decisionOf(await both[1].ended)];
    expect(decisions).toContainEqual(ALLOWED);
    expect(decisions).toContainEqual(denied(expect.stringContaining("the hook is set up twice") as string));
  });

  test("killed and started again, finds the answer given meanwhile, and hands it over once", async () => {
    const server = await startServer();
    const first = server.start(CLAUDE, PUSH);
    await server.question();
    first.kill("SIGKILL");
    await first.ended;
    await server.approve();
    expect(decisionOf(await server.start(CLAUDE, PUSH).ended)).toEqual(ALLOWED);
    // Not a licence for a model that uses an id again.
    expect(decisionOf(await server.start(CLAUDE, PUSH).ended)).toEqual(
      denied(expect.stringContaining("an approval is given only once") as string),
    );
  });

  test("killed before it could report, hands the approval over when it is started again", async () => {
    const server = await startServer();
    const first = server.start(CLAUDE, PUSH);
    server.traffic.beforeResult = async () => {
      delete server.traffic.beforeResult;
      first.kill("SIGKILL");
      await first.ended;
      throw new Error("its connection is gone");
    };
    await server.approve();
    expect(await first.ended).toMatchObject({ code: null, stdout: "" });
    expect(decisionOf(await server.start(CLAUDE, PUSH).ended)).toEqual(ALLOWED);
  });

  test("denies when nobody decides in time, and the question expires", async () => {
    const server = await startServer();
    const { ended } = server.start([...CLAUDE, "--wait", "2s"], PUSH);
    const { id } = await server.question();
    expectBlocked(await ended);
    await expect.poll(() => server.engine.pending(), { timeout: 40_000 }).toEqual([]);
    await expect(server.engine.approve(id, { by: boss })).rejects.toMatchObject({ code: "expired" });
  });
});

describe("hook claude-code --defer", () => {
  test("ends the run at an open question, and hands its answer over when the run is resumed", async () => {
    const server = await startServer();
    const deferring = [...CLAUDE, "--defer", "--wait", "2s"];
    const first = await server.start(deferring, PUSH).ended;
    expect(decisionOf(first)).toEqual({ hookEventName: "PreToolUse", permissionDecision: "defer" });
    await server.approve();
    // An answer that is there needs no wait.
    const resumed = server.start([...CLAUDE, "--defer", "--wait", "0s"], PUSH);
    expect(decisionOf(await resumed.ended)).toEqual(ALLOWED);
  });

  test("is refused for agents that cannot do it", async () => {
    const server = await startServer();
    const { code, stderr } = await server.start(["hook", "codex", "--defer"], PUSH).ended;
    expect(code).toBe(2);
    expect(stderr).toContain("--defer is not for codex");
  });
});

describe("a hook that cannot ask blocks the tool with exit code 2", () => {
  test("the server is down", async () => {
    const server = await startServer();
    await server.stop();
    const { code, stdout, stderr } = await server.start(CLAUDE, PUSH).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("The Countersign server cannot be reached");
  });

  test("the server is stopped while the hook waits", async () => {
    const server = await startServer();
    const { ended } = server.start([...CLAUDE, "--wait", "4s"], PUSH);
    await server.question();
    await server.stop();
    expectBlocked(await ended);
  });

  test.each([
    ["an input that is not JSON", CLAUDE, "{", "The hook's input cannot be read"],
    ["an unknown agent", ["hook", "cursor"], PUSH, 'There is no hook for "cursor"'],
    ["an unknown flag", [...CLAUDE, "--wiat", "3s"], PUSH, "has no flag --wiat"],
    ["no token", [...CLAUDE, "--token-file", "missing"], PUSH, "Cannot read --token-file"],
  ])("%s", async (_, args, input, message) => {
    const server = await startServer();
    const { code, stdout, stderr } = await server.start(args, input).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  test.each([[[]], [["--trust-policy"]]])("the server has no policy %j", async (flags) => {
    const server = await startServer({ policy: "none" });
    const { code, stdout, stderr } = await server.start([...CLAUDE, ...flags], claudeInput("ls")).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("This server has no policy");
  });

  test("other arguments under the same tool use", async () => {
    const server = await startServer();
    await server.start(CLAUDE, claudeInput("ls")).ended;
    const { code, stderr } = await server.start(CLAUDE, claudeInput("ls src")).ended;
    expect(code).toBe(2);
    expect(stderr).toContain("[key-reused]");
  });

  test("an agent that stops the hook", async () => {
    const server = await startServer();
    const hook = server.start(CLAUDE, PUSH);
    await server.question();
    hook.kill("SIGTERM");
    expect(await hook.ended).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("hook codex", () => {
  const input = JSON.stringify({
    session_id: "0199",
    turn_id: "turn-1",
    transcript_path: null,
    cwd: "/home/ana/shop",
    hook_event_name: "PreToolUse",
    model: "gpt",
    permission_mode: "default",
    tool_name: "Bash",
    tool_input: { command: "rm -rf build" },
    tool_use_id: "call_1",
  });

  test("prints nothing after an approval, because Codex takes a bare allow for an error", async () => {
    const server = await startServer();
    const { ended } = server.start(["hook", "codex"], input);
    await server.approve();
    expect(await ended).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("prints a changed input, and a denial", async () => {
    const server = await startServer();
    const changed = server.start(["hook", "codex"], input);
    await server.approve({ command: "rm -rf build/cache" });
    expect(decisionOf(await changed.ended)).toEqual({
      hookEventName: "PreToolUse",
      permissionDecision: "allow",
      updatedInput: { command: "rm -rf build/cache" },
      additionalContext: expect.stringContaining("The approver changed the input") as string,
    });
    const late = server.start(["hook", "codex", "--wait", "1s"], input.replace("call_1", "call_2"));
    expectBlocked(await late.ended);
  });
});

describe("hook gemini-cli", () => {
  const input = JSON.stringify({
    session_id: "77",
    transcript_path: "/home/ana/.gemini/77.json",
    cwd: "/home/ana/shop",
    hook_event_name: "BeforeTool",
    timestamp: "2026-11-16T08:00:00.000Z",
    tool_name: "run_shell_command",
    tool_input: { command: "rm notes.txt", directory: "docs" },
  });

  test("prints an empty object after an approval, and a denial with its reason", async () => {
    const server = await startServer();
    const { ended } = server.start(["hook", "gemini-cli"], input);
    await server.approve();
    expect(await ended).toEqual({ code: 0, stdout: "{}\n", stderr: "" });
    const later = server.start(["hook", "gemini-cli"], input.replace("08:00", "08:01"));
    const { id } = await server.question();
    await server.engine.deny(id, { by: boss, reason: "keep them" });
    const { code, stdout } = await later.ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      decision: "deny",
      reason: "The call was denied and did not run: keep them",
    });
  });

  test("gives a changed input to the agent, and denies what it cannot change", async () => {
    const server = await startServer();
    const changed = server.start(["hook", "gemini-cli"], input);
    await server.approve({ command: "rm old-notes.txt", directory: "docs" });
    expect(JSON.parse((await changed.ended).stdout)).toMatchObject({
      hookSpecificOutput: { tool_input: { command: "rm old-notes.txt", directory: "docs" } },
    });
    const removed = server.start(["hook", "gemini-cli"], input.replace("08:00", "08:01"));
    await server.approve({ command: "rm notes.txt" });
    expect(JSON.parse((await removed.ended).stdout)).toMatchObject({ decision: "deny" });
  });
});
