import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Ledger, readStatistics } from "../engine/index.ts";
import { parsePolicy } from "../policy/index.ts";
import { createLedger } from "../stores/index.ts";
import type { SimulationReport } from "./report.ts";
import { MINUTE_MS, type Scenario, type Team, USUAL_TEAM, USUAL_WEEKDAYS } from "./scenario.ts";
import { simulate } from "./simulate.ts";

vi.setConfig({ testTimeout: 120_000 });

const MONDAY = Date.UTC(2027, 0, 4);
const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];
const constant = (ms: number): { readonly median: number; readonly p90: number } => ({ median: ms, p90: ms });

/** They are always there, and all alike. */
const ALWAYS: Omit<Team, "name"> = {
  ...USUAL_TEAM,
  people: 1,
  users: [],
  roles: ["ops"],
  days: EVERY_DAY,
  from: 0,
  to: 24,
  absent: 0,
  reactionMs: constant(MINUTE_MS),
  handlingMs: constant(2 * MINUTE_MS),
  approves: 1,
};
const OPS: Team = { ...ALWAYS, name: "ops" };

const ASK = "then: confirm, require: [{ from: role:ops }], expires: 2d";

function policyWith(rule: string, more = ""): ReturnType<typeof parsePolicy> {
  return parsePolicy("policy.yaml", `${more}\nrules:\n  - { id: r, match: { tool: deploy }, ${rule} }\n`);
}

function scenarioWith(changes: Partial<Scenario> = {}): Scenario {
  return {
    agents: 10,
    days: 3,
    start: MONDAY,
    calls: [{ tool: "deploy", app: "app", args: {}, perAgentPerDay: 1 }],
    // None in the last hours of a day, so that nothing is left open at the end.
    hours: Array.from({ length: 24 }, (_, hour) => (hour < 20 ? 1 : 0)),
    weekdays: [1, 1, 1, 1, 1, 1, 1],
    teams: [OPS],
    ...changes,
  };
}

async function play(
  scenario: Scenario,
  {
    rule = ASK,
    more = "",
    seed = 7,
  }: { readonly rule?: string; readonly more?: string; readonly seed?: number } = {},
): Promise<{ readonly report: SimulationReport; readonly ledger: Ledger }> {
  let ledger: Ledger | undefined;
  const report = await simulate({
    policy: policyWith(rule, more),
    scenario,
    seed,
    open: async (clock) => {
      const opened = await createLedger("memory:", { clock });
      onTestFinished(() => opened.close());
      ledger = opened;
      return opened;
    },
  });
  return { report, ledger: ledger as Ledger };
}

describe("known results", () => {
  test("without approvers every question expires, and is reported as one that nobody can decide", async () => {
    const rule = "then: confirm, require: [{ from: role:ops }], expires: 1h";
    const { report } = await play(scenarioWith({ teams: [] }), { rule });
    const { asked } = report.total;
    expect(asked).toBeGreaterThan(10);
    expect(report.total).toMatchObject({ calls: asked, expired: asked, unanswerable: asked, votes: 0 });
    expect(report).toMatchObject({ open: 0, approvers: 0 });
    expect(report.total.decisionSeconds).toBeUndefined();
  });

  test("an approver who is free decides after reaction and reading", async () => {
    const calls = [{ tool: "deploy", app: "app", args: {}, perAgentPerDay: 0.3 }];
    const { report } = await play(scenarioWith({ calls }));
    expect(report.total.asked).toBeGreaterThan(3);
    expect(report.total).toMatchObject({ approved: report.total.asked, expired: 0, wasted: 0 });
    expect(report.total.decisionSeconds?.p50).toBe(180);
    expect(report.total.queue.p50).toBe(0);
  });

  test("twice as much work as one can do: the queue grows; a second approver more than halves it", async () => {
    const busy = { ...OPS, handlingMs: constant(30 * MINUTE_MS) };
    const calls = [{ tool: "deploy", app: "app", args: {}, perAgentPerDay: 9 }];
    const one = await play(scenarioWith({ calls, days: 1, teams: [busy] }));
    const two = await play(scenarioWith({ calls, days: 1, teams: [{ ...busy, people: 2 }] }));
    expect(two.report.total.asked).toBe(one.report.total.asked);
    expect(one.report.total.queue.max).toBeGreaterThan(15);
    expect(two.report.total.queue.p50).toBeLessThan(one.report.total.queue.p50 / 2);
    // Without a pause, but for the time before the first question.
    expect(one.report.total.busy?.max).toBeGreaterThan(0.9);
  });

  test("two of the team must agree: each question takes two votes, of two people", async () => {
    const rule = "then: confirm, require: [{ from: role:ops, count: 2 }], expires: 2d";
    const alone = await play(scenarioWith(), { rule });
    expect(alone.report.total).toMatchObject({ approved: 0, votes: alone.report.total.asked });
    const { report } = await play(scenarioWith({ teams: [{ ...OPS, people: 2 }] }), { rule });
    expect(report.total).toMatchObject({ approved: report.total.asked, votes: 2 * report.total.asked });
  });

  test("whoever is asked is never there: the escalation lets others decide", async () => {
    const rule =
      "then: confirm, require: [{ from: lead }], escalate: [{ after: 1h, to: role:ops }], expires: 2d";
    const lead: Team = { ...ALWAYS, name: "lead", users: ["ana"], roles: [], absent: 1 };
    const { report } = await play(scenarioWith({ teams: [lead, OPS] }), {
      rule,
      more: "groups: { lead: [ana] }",
    });
    const { asked } = report.total;
    expect(asked).toBeGreaterThan(10);
    expect(report.total).toMatchObject({ approved: asked, escalated: asked, unanswerable: 0 });
    expect(report.total.decisionSeconds?.p50).toBeGreaterThanOrEqual(3_600);
    expect(report.teams).toMatchObject([
      { team: "lead", votes: 0 },
      { team: "ops", votes: asked },
    ]);
  });

  test("a grant lets further calls of the day run", async () => {
    const rule = `${ASK}, grants: { longest: 1d, count: 100 }`;
    const calls = [{ tool: "deploy", app: "app", args: {}, perAgentPerDay: 8 }];
    const { report } = await play(scenarioWith({ calls, agents: 3, teams: [{ ...OPS, grants: 1 }] }), {
      rule,
    });
    const { total } = report;
    expect(total.granted).toBeGreaterThan(total.asked);
    expect(total).toMatchObject({ calls: total.asked + total.granted, approved: total.asked, ran: 0 });
  });

  test("nobody works at the weekend, and agents call only where the weights say so", async () => {
    const office = { ...OPS, days: [0, 1, 2, 3, 4] };
    const scenario = scenarioWith({ days: 14, agents: 2, teams: [office], weekdays: [1, 1, 1, 1, 1, 0, 0] });
    const { report } = await play(scenario);
    expect(report.weeks).toHaveLength(2);
    expect(report.weeks.map(({ from }) => from)).toEqual(["2027-01-04", "2027-01-11"]);
    const sums = report.weeks.reduce((sum, { asked }) => sum + asked, 0);
    expect(sums).toBe(report.total.asked);
    const weekends = await play({ ...scenario, weekdays: [0, 0, 0, 0, 0, 1, 1] });
    expect(weekends.report.total.votes).toBeGreaterThan(0);
    // From Saturday or Sunday until Monday at the earliest.
    expect(weekends.report.total.decisionSeconds?.p50).toBeGreaterThan(4 * 3_600);
  });

  test("a rule that denies, and calls that no rule is about", async () => {
    const calls = ["deploy", "read"].map((tool) => ({ tool, app: "app", args: {}, perAgentPerDay: 1 }));
    const { report } = await play(scenarioWith({ calls }), { rule: "then: deny" });
    const { total } = report;
    expect(total.forbidden).toBeGreaterThan(5);
    expect(total.ran).toBeGreaterThan(5);
    expect(total).toMatchObject({ calls: total.forbidden + total.ran, asked: 0 });
  });
});

const MIXED = `then: confirm, require: [{ from: role:ops, count: 2 }], denials: 2,
      expires: 3h, escalate: [{ after: 30m, to: user:zoe }], grants: { longest: 2h, count: 3 }`;

function mixed(changes: Partial<Scenario> = {}): Scenario {
  const people: Team = {
    ...USUAL_TEAM,
    name: "ops",
    people: 3,
    users: [],
    roles: ["ops"],
    approves: 0.7,
    grants: 0.5,
  };
  const zoe: Team = { ...ALWAYS, name: "zoe", users: ["zoe"], roles: [], approves: 0.8 };
  return scenarioWith({ agents: 16, days: 5, teams: [people, zoe], weekdays: USUAL_WEEKDAYS, ...changes });
}

test("the same seed gives the same report; another seed another one", async () => {
  const [first, again, other] = [
    await play(mixed({ days: 2 }), { rule: MIXED }),
    await play(mixed({ days: 2 }), { rule: MIXED }),
    await play(mixed({ days: 2 }), { rule: MIXED, seed: 8 }),
  ];
  expect(again.report).toEqual(first.report);
  expect(other.report.total).not.toEqual(first.report.total);
});

describe("against the journal", () => {
  test("every count is the ledger's", async () => {
    const { report, ledger } = await play(mixed(), { rule: MIXED });
    const kinds = new Map<string, number>();
    let answered = 0;
    for (let after = 0, more = true; more; ) {
      const records = await ledger.journal.records({ after, limit: 500 });
      for (const { kind } of records) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      answered += records.length;
      after = records.at(-1)?.seq ?? after;
      more = records.length > 0;
    }
    const found = (kind: string): number => kinds.get(kind) ?? 0;
    const { total, open } = report;
    expect(answered).toBeGreaterThan(200);
    expect(total).toMatchObject({
      asked: found("confirmation-requested"),
      approved: found("confirmation-approved"),
      denied: found("confirmation-denied"),
      expired: found("confirmation-expired"),
      escalated: found("confirmation-escalated"),
      votes: found("vote-cast") + found("confirmation-approved") + found("confirmation-denied"),
      granted: found("grant-used"),
    });
    // All of it happens in this scenario, so that none of these compares 0 with 0.
    for (const count of ["approved", "denied", "expired", "escalated", "granted"] as const)
      expect(total[count], count).toBeGreaterThan(0);
    expect(found("call-succeeded")).toBe(total.approved + total.granted + total.ran);
    expect(total.asked).toBe(total.approved + total.denied + total.expired + open);
    expect(found("decision-refused")).toBe(0);
  });

  test("the engine's own statistics agree, times within their 5 %", async () => {
    const { report, ledger } = await play(mixed(), { rule: MIXED });
    let found = await readStatistics(ledger, { days: 14, of: "everybody" });
    while (found.behind) found = await readStatistics(ledger, { days: 14, of: "everybody" });
    const { asked, approved, denied, expired, decisionSeconds } = report.total;
    expect(found.total).toMatchObject({ asked, approved, denied, expired });
    expect(found.waiting.count).toBe(report.open);
    const ratio = (found.total.decisionSeconds?.median ?? 0) / (decisionSeconds?.p50 ?? 1);
    expect(ratio).toBeGreaterThan(0.94);
    expect(ratio).toBeLessThan(1.06);
  });
});
