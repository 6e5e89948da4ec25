import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { Engine, type Ledger, ManualClock, policyText } from "../engine/index.ts";
import { createLedger } from "../stores/index.ts";
import { LivePolicy, parsePolicy } from "./index.ts";

const ana = { id: "ana", authenticated: true, kind: "token", roles: ["treasury"] } as const;
const bob = { id: "bob", authenticated: true, kind: "token" } as const;
const boss = { id: "boss", authenticated: true, kind: "token", roles: ["boss"], scopes: ["decide"] } as const;

const FILE = `
groups: { bosses: ["role:boss"] }
rules:
  - id: big
    match: { tool: pay }
    when: args.amount > 1000.0
    unless: user.roles.exists(r, r == "treasury")
    then: confirm
    hint: "Pay {{args.amount}} with {{args.pin}}?"
    require: [{ from: bosses }]
    expires: 1h
  - id: never
    match: { tool: pay }
    when: args.to == "mallory"
    then: deny
  - id: watch
    match: { tool: pay }
    when: args.pin == "1234"
    then: deny
    mode: observe
`;

let clock: ManualClock;
let ledger: Ledger;
let engine: Engine;
let policy: LivePolicy;
let runs: unknown[];
let pay: ReturnType<typeof gatePay>;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  policy = new LivePolicy(parsePolicy("policy.yaml", FILE));
  engine = new Engine({ ledger, clock, policy });
  runs = [];
  pay = gatePay();
});

afterEach(() => engine.close());

function gatePay() {
  return engine.gate(
    "pay",
    {
      parameters: z.object({ amount: z.unknown(), to: z.unknown(), pin: z.string() }),
      secrets: ["/pin"],
      expiresInMs: 7_200_000,
    },
    async (args) => {
      runs.push(args);
      return "paid";
    },
  );
}

async function bodies(kind: string): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (const record of await ledger.journal.records({ after: 0, limit: 100 }))
    if (record.kind === kind) found.push(record.body);
  return found;
}

async function opened() {
  const { items } = await ledger.confirmations({ state: "open" });
  return items.map(({ confirmation }) => confirmation);
}

test("a question says which rules of which version applied, and what they saw, without secrets", async () => {
  const outcome = await pay({ amount: 5000, to: "zoe", pin: "1234" }, { key: "k", by: bob });
  expect(outcome.status).toBe("pending");
  const [confirmation] = await opened();
  const note = [
    {
      version: policy.version,
      rules: [
        { rule: "big", outcome: "confirm", facts: { "args.amount": 5000, "user.roles": [] } },
        { rule: "watch", outcome: "deny", observe: true, facts: { "args.pin": "[redacted]" } },
      ],
    },
  ];
  // The journal keeps it; a session's document, which is written with every commit, does not.
  expect(confirmation).not.toHaveProperty("policy");
  expect(confirmation).toMatchObject({
    shown: { hint: "Pay 5000 with [redacted]?", why: ["policy rule big"] },
    requirements: [{ from: { roles: ["boss"] }, count: 1, group: "bosses" }],
    expiresAt: clock.now() + 3_600_000,
  });
  expect(await bodies("confirmation-requested")).toMatchObject([{ policy: note }]);
  const stored = await policyText(ledger, policy.version);
  expect(stored).toBe(policy.text);
  expect(parsePolicy("stored", stored ?? "").version).toBe(policy.version);
});

test("a call that runs or is denied without a question has its rules in the journal too", async () => {
  await pay({ amount: 5, to: "zoe", pin: "1234" }, { key: "k1", by: bob });
  const denied = await pay({ amount: 5, to: "mallory", pin: "0" }, { key: "k2", by: bob });
  expect(denied).toMatchObject({
    status: "denied",
    reason: expect.stringContaining("policy rule never") as string,
  });
  expect(runs).toHaveLength(1);
  expect(await bodies("call-started")).toMatchObject([
    { policy: [{ version: policy.version, rules: [{ rule: "watch", outcome: "deny", observe: true }] }] },
  ]);
  expect(await bodies("calls-answered")).toMatchObject([
    {
      calls: [{ policy: [{ rules: [{ rule: "never", outcome: "deny", facts: { "args.to": "mallory" } }] }] }],
    },
  ]);
});

test.each<[string, unknown]>([
  ["a list", ["mallory"]],
  ["an object", { name: "mallory" }],
  ["a number", 5],
  ["null", null],
])("a wrong type does not get past a deny: %s", async (_, to) => {
  const outcome = await pay({ amount: 5, to, pin: "0" }, { key: "k", by: bob });
  expect(outcome).toMatchObject({
    status: "denied",
    reason: expect.stringContaining("could not be evaluated") as string,
  });
});

test.each<[string, unknown]>([
  ["a text", "5000"],
  ["nothing", undefined],
  ["a list", [5000]],
])("a wrong type does not get past a confirm: %s", async (_, amount) => {
  const outcome = await pay({ amount, to: "zoe", pin: "0" }, { key: "k", by: bob });
  expect(outcome.status).toBe("pending");
});

test("roles are those of whoever asked then, also when the call is judged again at its start", async () => {
  const strict = `
rules:
  - { id: ask, match: { tool: pay }, then: confirm, require: [{ from: "role:boss" }] }
  - id: only-treasury
    match: { tool: pay }
    unless: user.roles.exists(r, r == "treasury")
    then: deny
`;
  policy.replace(parsePolicy("strict", strict));
  expect((await pay({ amount: 1, to: "zoe", pin: "0" }, { key: "k1", by: bob })).status).toBe("denied");
  const outcome = await pay({ amount: 1, to: "zoe", pin: "0" }, { key: "k2", by: ana });
  if (outcome.status !== "pending") throw new Error(outcome.status);
  await engine.approve(outcome.confirmation.id, { by: boss });
  await engine.finished(outcome.callId);
  expect(runs).toHaveLength(1);
});

test("a file that is replaced judges what was asked before: a deny at the start stops an approved call", async () => {
  const outcome = await pay({ amount: 5000, to: "zoe", pin: "0" }, { key: "k", by: bob });
  if (outcome.status !== "pending") throw new Error(outcome.status);
  policy.replace(
    parsePolicy(
      "new",
      `{ groups: { bosses: ["role:boss"] }, rules: [{ id: stop, match: { tool: pay }, then: deny, reason: audit }] }`,
    ),
  );
  await expect(engine.approve(outcome.confirmation.id, { by: boss })).rejects.toMatchObject({
    code: "policy-denied",
    message: expect.stringContaining("policy rule stop: audit") as string,
  });
  expect(runs).toEqual([]);
});

test("an approval does not get past a deny of the same file", async () => {
  const both = `
rules:
  - { id: ask, match: { tool: pay }, then: confirm }
  - { id: allow, match: { tool: "*" }, then: allow }
  - { id: never, match: { tool: "p*" }, then: deny }
`;
  policy.replace(parsePolicy("both", both));
  expect((await pay({ amount: 1, to: "zoe", pin: "0" }, { key: "k", by: bob })).status).toBe("denied");
});

test.each(["match: { mcpServer: bank }", `when: 'tool.server == "bank"'`])(
  "a rule names a server by its name, and people are shown where it is: %s",
  async (rule) => {
    policy.replace(parsePolicy("policy.yaml", `rules: [{ id: no-bank, ${rule}, then: deny }]`));
    const options = { source: "bank", place: "https://bank.example/mcp", requireConfirmation: true };
    const transfer = engine.gate("transfer", options, async () => "done");
    expect(await transfer({}, { key: "k1", by: bob })).toMatchObject({ status: "denied", byPolicy: true });
    policy.replace(parsePolicy("policy.yaml", "rules: []"));
    expect(await transfer({}, { key: "k2", by: bob })).toMatchObject({
      status: "pending",
      confirmation: { source: "bank (https://bank.example/mcp)" },
    });
  },
);

test("a rule that observes does not use up the loops of the rules that count", async () => {
  const loops = "args.to.exists(a, args.to.exists(b, a + b < 0.0))";
  const counting = `{ id: counts, when: 'args.to.exists(a, a < 0.0)', then: deny }`;
  const watching = `{ id: watches, when: '${loops}', then: deny, mode: observe }`;
  policy.replace(parsePolicy("file", `rules: [${watching}, ${counting}]`));
  const to = Array.from({ length: 999 }, (_, index) => index);
  expect((await pay({ amount: 1, to, pin: "0" }, { key: "k", by: bob })).status).toBe("succeeded");
});

test("the time of a condition is that of the ledger, not of the process", async () => {
  const hour = new Date(clock.now()).getUTCHours();
  policy.replace(parsePolicy("file", `rules: [{ id: closed, when: "time.hour == ${hour}", then: deny }]`));
  const ahead = new Engine({ ledger, clock: new ManualClock(clock.now() + 3 * 3_600_000), policy });
  const late = ahead.gate("refund", {}, async () => "done");
  expect((await late({}, { key: "k", by: bob })).status).toBe("denied");
  await ahead.close();
});
