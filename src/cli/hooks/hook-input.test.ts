import { expect, test } from "vitest";
import { HOOK_PROTOCOLS } from "./agents.ts";

const CLAUDE = {
  session_id: "5c1e",
  transcript_path: "/home/ana/.claude/5c1e.jsonl",
  cwd: "/home/ana/shop",
  hook_event_name: "PreToolUse",
  tool_name: "Bash",
  tool_input: { command: "ls" },
  tool_use_id: "toolu_1",
};

function read(agent: string, input: object | string, ignored: readonly string[] = []): unknown {
  return HOOK_PROTOCOLS.get(agent)?.read(typeof input === "string" ? input : JSON.stringify(input), ignored);
}

test.each([
  ["nothing", "", "The hook's input cannot be read"],
  ["a list", "[]", "must be a JSON object"],
  ["a member named twice", '{"tool_name":"Read","tool_name":"Bash"}', "The hook's input cannot be read"],
  ["an unknown member", { ...CLAUDE, sandbox: false }, 'has a member "sandbox"'],
  ["a member of the prototype", '{"__proto__":{}}', 'has a member "__proto__"'],
  ["another event", { ...CLAUDE, hook_event_name: "PostToolUse" }, "is for the event PreToolUse"],
  ["an empty id", { ...CLAUDE, tool_use_id: "" }, "tool_use_id in the hook's input must be a text"],
  ["no session", { ...CLAUDE, session_id: undefined }, "session_id in the hook's input must be a text"],
  ["a number for a name", { ...CLAUDE, tool_name: 1 }, "tool_name in the hook's input must be a text"],
  [
    "a text for arguments",
    { ...CLAUDE, tool_input: "ls" },
    "tool_input in the hook's input must be an object",
  ],
])("%s is refused", (_, input, message) => {
  expect(() => read("claude-code", input)).toThrow(message);
});

test("a member of a newer agent is read over if it is named", () => {
  const input = { ...CLAUDE, mood: "good" };
  expect(read("claude-code", input, ["mood"])).toMatchObject({ tool: "Bash", input: { command: "ls" } });
});

test("the key is the agent, the session and the tool use, and no other split gives the same", () => {
  expect(read("claude-code", CLAUDE)).toMatchObject({
    key: "claude-code:5c1e:toolu_1",
    thread: "claude-code:5c1e",
  });
  const one = read("claude-code", { ...CLAUDE, session_id: "a:b", tool_use_id: "c" });
  const other = read("claude-code", { ...CLAUDE, session_id: "a", tool_use_id: "b:c" });
  expect(one).not.toEqual(other);
  expect(read("codex", { ...CLAUDE, model: "m" })).toMatchObject({ key: "codex:5c1e:toolu_1" });
});

test("without an id of the tool use, the key is the time and the call", () => {
  const { tool_use_id: _, ...input } = { ...CLAUDE, hook_event_name: "BeforeTool", timestamp: "T1" };
  const key = (more: object): unknown => (read("gemini-cli", { ...input, ...more }) as { key: string }).key;
  expect(key({})).toBe(key({}));
  expect(new Set([key({}), key({ timestamp: "T2" }), key({ tool_input: { command: "rm" } })]).size).toBe(3);
});
