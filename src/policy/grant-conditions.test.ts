import { afterEach, beforeEach, expect, test } from "vitest";
import { Engine, type GrantTerms, ManualClock, type Principal, toPrincipal } from "../engine/index.ts";
import type { JsonObject } from "../protocol/index.ts";
import { createLedger } from "../stores/index.ts";
import { LivePolicy, parsePolicy } from "./index.ts";

const FILE = `
rules:
  - id: pay
    match: { tool: pay }
    then: confirm
    require: [{ from: "user:ana" }]
    grants: { longest: 1h, count: 20 }
`;
const BOT: Principal = toPrincipal({
  id: "bot",
  kind: "agent",
  authenticated: true,
  scopes: ["propose"],
  onBehalfOf: "rita",
});
const ANA = toPrincipal({ id: "ana", kind: "token", authenticated: true, scopes: ["decide"] });
const ACME = 'args.to == "acme"';

let engine: Engine;
let policy: LivePolicy;
let keys = 0;

beforeEach(async () => {
  const clock = new ManualClock();
  policy = new LivePolicy(parsePolicy("policy.yaml", FILE));
  engine = new Engine({ ledger: await createLedger("memory:", { clock }), clock, policy });
});

afterEach(() => engine.close());

async function pay(args: JsonObject) {
  keys += 1;
  return engine.callers.propose({
    by: BOT,
    app: "shop",
    tool: "pay",
    thread: "t1",
    requireConfirmation: false,
    secrets: ["/pin"],
    key: `k${keys}`,
    args,
  });
}

/** Asks for a payment, and approves it with a grant. */
async function grant(args: JsonObject, terms: GrantTerms): Promise<void> {
  const { confirmation } = await pay(args);
  await engine.approve(confirmation?.id ?? "", { by: ANA, grant: terms });
}

async function statusOf(args: JsonObject): Promise<string> {
  return (await pay(args)).status;
}

async function refusal(): Promise<string> {
  const all = await engine.ledger.journal.records({ after: 0, limit: 1_000 });
  return JSON.stringify(all.findLast(({ kind }) => kind === "grant-refused")?.body);
}

function changePolicy(file: string): void {
  policy.replace(parsePolicy("policy.yaml", file));
}

function withWhere(condition: string): string {
  return FILE.replace("count: 20 }", `count: 20, where: ${JSON.stringify(condition)} }`);
}

test("a grant with a condition lets only calls run that meet it", async () => {
  await grant({ to: "acme" }, { where: [ACME] });
  expect((await engine.grants({ by: ANA })).items).toMatchObject([{ limits: { where: [ACME] } }]);
  expect(await statusOf({ to: "acme" })).toBe("allowed");
  expect(await statusOf({ to: "zoe" })).toBe("pending");
  expect(await refusal()).toContain("is not met");
});

test.each([{}, { to: 5 }, { to: null }, { to: ["acme"] }])(
  "%j cannot be judged, so it is asked about",
  async (args) => {
    await grant({ to: "acme" }, { where: [ACME] });
    expect(await statusOf(args)).toBe("pending");
    expect(await refusal()).toContain("cannot be judged");
  },
);

test.each([
  ["args.to ==", "cannot be judged"],
  ['state.vip == "yes"', "reads only args"],
  ['user.id == "rita"', "reads only args"],
  ['args.to.matches("(a+)+$")', "cannot be judged"],
  ["args.items.all(x, args.items.all(y, args.items.all(z, x == z)))", "cannot be judged"],
  ["[0, 1].all(x, x == 0) || true", "all() is not available in the condition of a grant"],
  ['re2("", "(?:abc){1000}") || true', "re2() is not available in the condition of a grant"],
  ['args.to == "zoe"', "is not met"],
  ["args.to", "cannot be judged"],
])("the condition %s is refused, and the call stays open", async (condition, message) => {
  const { confirmation } = await pay({ to: "acme" });
  const approving = engine.approve(confirmation?.id ?? "", { by: ANA, grant: { where: [condition] } });
  await expect(approving).rejects.toThrow(message);
  expect((await engine.confirmation(confirmation?.id ?? "")).status).toBe("requested");
});

test.each([
  { where: ACME },
  { where: [5] },
  { where: [""] },
  { where: Array(11).fill(ACME) },
  { where: ["x".repeat(1_001)] },
])("%j is no list of conditions", async (terms) => {
  await expect(grant({ to: "acme" }, terms as unknown as GrantTerms)).rejects.toThrow(
    "`where` must be a list",
  );
});

test("nobody finds out a secret by trying conditions", async () => {
  const guess = grant({ to: "acme", pin: "1234" }, { where: ['args.pin == "1234"'] });
  await expect(guess).rejects.toThrow("reads a secret");
});

test.each([
  'args.pin != "0000"',
  "has(args.pin)",
  "size(args) < 9",
  'args.to == "acme" || args.pin != "0000"',
])("a condition that reads a secret is never met, because nobody may know it: %s", async (condition) => {
  const guess = grant({ to: "acme", pin: "1234" }, { where: [condition] });
  await expect(guess).rejects.toThrow("reads a secret");
  changePolicy(withWhere(condition));
  const asked = await pay({ to: "acme", pin: "1234" });
  expect(asked.status).toBe("pending");
  expect(asked.confirmation?.grants).toBeUndefined();
});

test("a condition of the rule is part of every grant, and the call that is approved must meet it", async () => {
  changePolicy(withWhere(ACME));
  await grant({ to: "acme" }, {});
  expect((await engine.grants({ by: ANA })).items).toMatchObject([{ limits: { where: [ACME] } }]);
  expect(await statusOf({ to: "acme" })).toBe("allowed");
  const other = await pay({ to: "zoe" });
  expect(other.status).toBe("pending");
  expect(other.confirmation?.grants).toBeUndefined();
  // The grant keeps its condition when the rule loses it.
  changePolicy(FILE);
  expect(await statusOf({ to: "zoe", again: true })).toBe("pending");
  expect(await statusOf({ to: "acme", again: true })).toBe("allowed");
});

test("a condition that the rule has now, and not when the grant was given, ends the use of the grant", async () => {
  await grant({ to: "acme" }, {});
  expect(await statusOf({ to: "acme" })).toBe("allowed");
  changePolicy(withWhere(ACME));
  expect(await statusOf({ to: "acme", again: true })).toBe("pending");
  expect(await refusal()).toContain("goes further than the rules");
});

test("a policy that cannot judge conditions lets no grant with a condition run", async () => {
  await grant({ to: "acme" }, { where: [ACME] });
  const { condition: _none, ...plain } = parsePolicy("policy.yaml", FILE);
  const other = new Engine({ ledger: engine.ledger, policy: plain });
  const proposal = {
    by: BOT,
    app: "shop",
    tool: "pay",
    thread: "t1",
    requireConfirmation: false,
    secrets: ["/pin"],
  };
  const outcome = await other.callers.propose({ ...proposal, key: "elsewhere", args: { to: "acme" } });
  expect(outcome.status).toBe("pending");
  expect(await refusal()).toContain("cannot judge its conditions");
});

test("the file names what is wrong with a condition, and where", () => {
  expect(() => parsePolicy("policy.yaml", withWhere("args.to =="))).toThrow(/policy\.yaml:7:\d+/);
  expect(() => parsePolicy("policy.yaml", withWhere("time.hour > 6"))).toThrow("reads only args");
});
