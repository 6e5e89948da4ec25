import { describe, expect, test } from "vitest";
import { parsePolicy } from "../policy/index.ts";
import { Random } from "./random.ts";
import { readScenario } from "./read-scenario.ts";
import {
  expectedCalls,
  type Scenario,
  sampled,
  USUAL_HOURS,
  USUAL_TEAM,
  USUAL_WEEKDAYS,
} from "./scenario.ts";
import { callsOfTests, teamsOf } from "./usual-scenario.ts";

const FILE = `
agents: 300
days: 28
start: 2027-03-01
hours: [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
weekdays: [1, 1, 1, 1, 1, 0, 0]
calls:
  - tool: pay
    app: bank
    perAgentPerDay: 0.5
    args:
      amount: { median: 200, p90: 4000 }
      currency: { oneOf: [EUR, USD] }
      to: zoe
      note: { text: hi }
teams:
  - { name: finance, people: 6, users: [ana], roles: [finance], days: [mon, tue], from: 8, to: 16, utcOffset: 1,
      absent: 0.2, reaction: { median: 2m, p90: 20m }, handling: { median: 30s, p90: 3m }, approves: 0.9, grants: 0.1 }
  - { name: cfo, users: [carl] }
`;

describe("a scenario file", () => {
  test("says everything about calls and teams", () => {
    const read = readScenario("office.yaml", FILE);
    expect(read).toMatchObject({
      agents: 300,
      days: 28,
      start: Date.UTC(2027, 2, 1),
      weekdays: [1, 1, 1, 1, 1, 0, 0],
    });
    expect(read.calls).toEqual([
      {
        tool: "pay",
        app: "bank",
        perAgentPerDay: 0.5,
        args: {
          amount: { kind: "spread", spread: { median: 200, p90: 4000 } },
          currency: { kind: "one-of", values: ["EUR", "USD"] },
          to: { kind: "fixed", value: "zoe" },
          note: { kind: "fixed", value: { text: "hi" } },
        },
      },
    ]);
    const [finance, cfo] = read.teams ?? [];
    expect(finance).toMatchObject({
      people: 6,
      users: ["ana"],
      roles: ["finance"],
      days: [0, 1],
      from: 8,
      utcOffset: 1,
    });
    expect(finance).toMatchObject({
      reactionMs: { median: 120_000, p90: 1_200_000 },
      approves: 0.9,
      grants: 0.1,
    });
    expect(cfo).toEqual({ ...USUAL_TEAM, name: "cfo", people: 1, users: ["carl"], roles: [] });
  });

  test.each([
    ["agents: 0", "agents must be a whole number"],
    ["agnets: 10", "agnets"],
    ["start: soon", "start must be a date"],
    ["hours: [1, 2]", "hours must be 24 weights"],
    ["weekdays: [0, 0, 0, 0, 0, 0, 0]", "weekdays must be 7 weights, not all of them 0"],
    ["calls: []", "calls must not be empty"],
    ["calls: [{ tool: pay }]", "perAgentPerDay"],
    [
      "calls: [{ tool: pay, perAgentPerDay: 1, args: { a: { median: 5, p90: 1 } } }]",
      "a p90 that is not below it",
    ],
    ["teams: [{ name: a }]", "the team a needs people or users"],
    ["teams: [{ name: a, people: 1, approves: 2 }]", "approves of a must be at most 1"],
    ["teams: [{ name: a, people: 1, days: [monday] }]", "a day must be one of mon"],
    ["teams: [{ name: a, people: 1, reaction: { median: 5, p90: 10m } }]", "reaction of a.median"],
  ])("%s is refused with its line and column", (text, message) => {
    expect(() => readScenario("office.yaml", text)).toThrow(/office\.yaml:1:\d+/);
    expect(() => readScenario("office.yaml", text)).toThrow(message);
  });
});

const POLICY = `
groups:
  finance: [ana, "role:finance"]
  all: ["group:finance", zoe]
rules:
  - { id: a, match: { tool: pay }, then: confirm, require: [{ from: finance }], escalate: [{ after: 1h, to: role:cfo }] }
tests:
  - { tool: pay, app: bank, args: { amount: 5 }, expect: confirm }
  - { tool: read, expect: allow }
`;

describe("without a scenario file", () => {
  test("the calls are those of the policy's tests", () => {
    expect(callsOfTests("policy.yaml", POLICY)).toEqual([
      { tool: "pay", app: "bank", args: { amount: { kind: "fixed", value: 5 } }, perAgentPerDay: 0.5 },
      { tool: "read", app: "app", args: {}, perAgentPerDay: 0.5 },
    ]);
    expect(() => callsOfTests("policy.yaml", "rules: []")).toThrow("has no tests");
  });

  test("the people are those whom the policy names", () => {
    const teams = teamsOf(parsePolicy("policy.yaml", POLICY), 10);
    expect(teams.map(({ name, people, users, roles }) => ({ name, people, users, roles }))).toEqual([
      { name: "zoe", people: 1, users: ["zoe"], roles: [] },
      { name: "ana", people: 1, users: ["ana"], roles: [] },
      { name: "finance", people: 4, users: [], roles: ["finance"] },
      { name: "cfo", people: 4, users: [], roles: ["cfo"] },
    ]);
    expect(teamsOf(parsePolicy("policy.yaml", POLICY), 0)).toEqual([]);
    const open = parsePolicy(
      "policy.yaml",
      "rules: [{ id: a, match: { tool: x }, then: confirm, notRequester: true }]",
    );
    expect(teamsOf(open, 3)).toMatchObject([{ name: "approvers", people: 3 }]);
  });
});

test("a sample has the same share of agents and of every team", () => {
  const scenario: Scenario = {
    agents: 1_000,
    days: 7,
    start: Date.UTC(2027, 0, 4),
    calls: [{ tool: "pay", app: "app", args: {}, perAgentPerDay: 2 }],
    hours: USUAL_HOURS,
    weekdays: USUAL_WEEKDAYS,
    teams: [40, 1].map((people, index) => ({
      ...USUAL_TEAM,
      name: `t${index}`,
      people,
      users: [],
      roles: [],
    })),
  };
  expect(expectedCalls(scenario)).toBe(1_000 * 2 * 5.5);
  const part = sampled(scenario, 0.1);
  expect(part.agents).toBe(100);
  expect(part.teams.map(({ people }) => people)).toEqual([4, 1]);
});

describe("random numbers", () => {
  test("half of a spread is below its median, nine of ten below its p90", () => {
    const random = new Random(1, "test");
    const drawn = Array.from({ length: 20_000 }, () => random.spread({ median: 10, p90: 40 }));
    const below = (limit: number): number => drawn.filter((value) => value < limit).length / drawn.length;
    expect(below(10)).toBeCloseTo(0.5, 1);
    expect(below(40)).toBeCloseTo(0.9, 1);
  });

  test.each([0.5, 8, 200])("a count of average %d has that average", (mean) => {
    const random = new Random(2, "test");
    const drawn = Array.from({ length: 5_000 }, () => random.poisson(mean));
    const found = drawn.reduce((sum, count) => sum + count, 0) / drawn.length;
    expect(Math.abs(found - mean) / mean).toBeLessThan(0.05);
  });

  test("purposes have streams of their own", () => {
    const [one, again, other] = ["a", "a", "b"].map((purpose) => new Random(1, purpose).next());
    expect(again).toBe(one);
    expect(other).not.toBe(one);
  });
});
