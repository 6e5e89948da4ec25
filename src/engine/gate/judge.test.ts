import { beforeEach, describe, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { Definitions } from "./definitions.ts";
import type { GatedTool } from "./gated-tool.ts";
import { type GatedCall, type GateRules, judge } from "./judge.ts";
import type { Policy, PolicyCall, PolicySource, PolicyVerdict } from "./policy.ts";
import { PolicyTexts } from "./policy-texts.ts";

let definitions: Definitions;
let policyTexts: PolicyTexts;

beforeEach(async () => {
  const ledger = await createLedger("memory:");
  definitions = new Definitions(ledger);
  policyTexts = new PolicyTexts(ledger);
});

const PAY: GatedTool = {
  name: "pay",
  definition: { name: "pay", annotations: { destructiveHint: true }, server: "bank", place: "stdio" },
  confirmation: { approvers: "requester", hint: () => undefined },
  repeatable: false,
  secrets: [],
  source: "bank (stdio)",
  parse: async (args) => ({ ok: true, args, unparsed: false, value: args }),
  gates: async () => [],
};

const ROBOT = { id: "robot", kind: "token", authenticated: true, roles: ["finance"] } as const;

function callOf(
  tool: Partial<GatedTool> = {},
  session: GatedCall["subject"]["session"] = { id: "s" },
): GatedCall {
  const args = { amount: 5 };
  const subject = {
    app: "shop",
    agent: "clerk",
    user: "ana",
    requesters: ["robot", "ana"],
    asker: ROBOT,
    session,
  };
  return { tool: { ...PAY, ...tool }, parsed: { args, value: args }, subject };
}

const state: GateRules["state"] = async (key) => ({ of: key });

function rulesOf(...policies: readonly (Policy | PolicySource)[]): GateRules {
  return { entryPoint: "mcp", policies, definitions, policyTexts, state, now: () => 1000 };
}

const says =
  (outcome: PolicyVerdict["outcome"]): Policy =>
  () => ({ outcome, reason: `${outcome}, says a policy` });

test("a policy is told all that is known of a call, and the state of its session", async () => {
  const seen: PolicyCall[] = [];
  await judge(
    rulesOf((call) => void seen.push(call)),
    callOf({}, { id: "s", key: "k" }),
  );
  expect(seen).toEqual([
    {
      entryPoint: "mcp",
      app: "shop",
      agent: "clerk",
      tool: "pay",
      args: { amount: 5 },
      shown: { amount: 5 },
      annotations: { destructiveHint: true },
      source: "bank",
      user: "ana",
      requesters: ["robot", "ana"],
      roles: ["finance"],
      authenticated: true,
      session: "s",
      state: { of: "k" },
      at: 1000,
    },
  ]);
});

test("the state is loaded only for policies that read it, and for each of them", async () => {
  const seen: PolicyCall["state"][] = [];
  const source = (readsState?: boolean): PolicySource => ({
    judge: (call) => void seen.push(call.state),
    version: "v",
    text: "{}",
    group: () => undefined,
    person: (id) => id,
    ...(readsState === undefined ? {} : { readsState }),
  });
  const call = callOf({}, { id: "s", key: "k" });
  await judge(rulesOf(source(false)), call);
  expect(seen).toEqual([{}]);
  await judge(rulesOf(source(false), source(true)), call);
  await judge(rulesOf(source()), call);
  expect(seen.slice(1)).toEqual([{ of: "k" }, { of: "k" }, { of: "k" }]);
});

describe("of two policies the stricter holds", () => {
  test.each([
    ["allow", "allow", "allow"],
    ["allow", "confirm", "confirm"],
    ["allow", "deny", "deny"],
    ["confirm", "deny", "deny"],
  ] as const)("%s and %s: %s", async (one, other, outcome) => {
    for (const policies of [
      [says(one), says(other)],
      [says(other), says(one)],
    ]) {
      expect((await judge(rulesOf(...policies), callOf())).outcome).toBe(outcome);
    }
  });
});

const gates = async (): Promise<never> => {
  throw new Error("broken");
};

test("gates of a tool that cannot be asked count as met", async () => {
  expect(await judge(rulesOf(says("allow")), callOf({ gates }))).toMatchObject({
    outcome: "confirm",
    why: ["the tool requires confirmation"],
  });
});
