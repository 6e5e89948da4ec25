import { afterEach, beforeEach, expect, test } from "vitest";
import { createClient } from "../../client/index.ts";
import { Engine, type GrantTerms, type Policy } from "../../engine/index.ts";
import { createApp, createAuth, Tokens } from "../../http/index.ts";
import { createLedger } from "../../stores/index.ts";
import type { RemoteGate } from "../remote/remote-gate.ts";
import { HOOK_PROTOCOLS } from "./agents.ts";
import { type Approval, seekApproval, type ToolUse } from "./approval.ts";

const boss = { id: "boss", kind: "token", authenticated: true, scopes: ["decide"] } as const;
const asksAboutAll: Policy = () => ({
  outcome: "confirm",
  reason: "it changes something",
  grants: { forMs: 3_600_000, count: 5 },
});
const ONLY_ONCE = {
  kind: "refused",
  reason: expect.stringContaining("an approval is given only once") as string,
};

let engine: Engine;
let gate: RemoteGate;
/** How many have asked, and wait for the decision. */
let waiting: number;

beforeEach(async () => {
  engine = new Engine({ ledger: await createLedger("memory:"), policy: asksAboutAll });
  const app = createApp({
    apps: {},
    engine,
    auth: await createAuth({ mode: "tokens", ledger: engine.ledger }),
  });
  const { secret } = await new Tokens(engine.ledger.items).create({
    user: "coder",
    kind: "agent",
    roles: [],
    scopes: ["propose"],
    createdBy: "test",
  });
  waiting = 0;
  const client = createClient({
    baseUrl: "http://localhost",
    token: secret,
    fetch: async (request) => {
      if (new URL(request.url).searchParams.has("wait")) waiting += 1;
      return app.fetch(request);
    },
  });
  gate = { client, app: "coding-agents", trustsPolicy: false };
});

afterEach(() => engine.close());

/** Two equal uses of a tool in one millisecond have the same key: Gemini CLI gives a tool use no id. */
function toolUse(minute = "00"): ToolUse {
  const input = {
    session_id: "77",
    transcript_path: "/home/ana/.gemini/77.json",
    cwd: "/home/ana/shop",
    hook_event_name: "BeforeTool",
    timestamp: `2026-11-16T08:${minute}:00.000Z`,
    tool_name: "run_shell_command",
    tool_input: { command: "transfer 100" },
  };
  const use = HOOK_PROTOCOLS.get("gemini-cli")?.read(JSON.stringify(input), []);
  if (use === undefined) throw new Error("There is no hook for it.");
  return use;
}

function seek(use: ToolUse): Promise<Approval> {
  return seekApproval(gate, use, {
    agent: "gemini-cli",
    agentTitle: "Gemini CLI",
    alwaysAsk: false,
    waitMs: 30_000,
  });
}

async function approve(grant?: GrantTerms): Promise<void> {
  await expect.poll(() => engine.pending()).toHaveLength(1);
  const [open] = await engine.pending();
  await engine.approve(open?.id ?? "", { by: boss, ...(grant === undefined ? {} : { grant }) });
}

test("two tool uses with one key that wait for one approval: one of them gets it", async () => {
  const both = [seek(toolUse()), seek(toolUse())];
  await expect.poll(() => waiting).toBe(2);
  await approve();
  const approvals = await Promise.all(both);
  expect(approvals.filter(({ kind }) => kind === "approved")).toHaveLength(1);
  expect(approvals).toContainEqual(ONLY_ONCE);
  expect(await seek(toolUse())).toEqual(ONLY_ONCE);
});

test("one use of a grant is for one tool use", async () => {
  const first = seek(toolUse());
  await approve({ count: 1 });
  expect(await first).toMatchObject({ kind: "approved" });
  const granted = await Promise.all([seek(toolUse("01")), seek(toolUse("01"))]);
  expect(granted).toContainEqual({ kind: "unasked" });
  expect(granted).toContainEqual(ONLY_ONCE);
  expect(await seek(toolUse("01"))).toEqual(ONLY_ONCE);
});

test("a grant answers who always asks a person: it is a person's approval", async () => {
  const always = { agent: "claude-code", agentTitle: "Claude Code", alwaysAsk: true, waitMs: 30_000 };
  const first = seekApproval(gate, toolUse(), always);
  await approve({ count: 1 });
  expect(await first).toMatchObject({ kind: "approved" });
  const use = toolUse("01");
  expect(await seekApproval(gate, use, always)).toEqual({
    kind: "approved",
    input: use.input,
    amended: false,
  });
  expect(await seekApproval(gate, use, always)).toEqual(ONLY_ONCE);
});
