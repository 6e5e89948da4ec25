import { describe, expect, test } from "vitest";
import { parseRetention } from "./rules-file.ts";

const DAY_MS = 86_400_000;

function contentDays(text: string, app: string, ...tools: readonly string[]): number | undefined {
  const age = parseRetention("r.yaml", text).rules.contentMs(app, new Set(tools));
  return age === undefined ? undefined : age / DAY_MS;
}

const RULES = `
retention:
  - { content: 90d }
  - { app: [pay*, bank], tool: refund, content: 2w }
  - { app: bank, tool: "wire*", content: 7y }
  - { app: bank, tool: contract, content: forever }
`;

describe("a rule", () => {
  test.each([
    ["shop", [], 90],
    ["shop", ["search"], 90],
    ["bank", ["refund"], 90],
    ["bank", ["refund", "wire-out"], 7 * 366],
    ["bank", ["contract"], undefined],
    ["shop", ["contract"], 90],
  ] as const)("for %s with %j: the longest that matches counts", (app, tools, days) => {
    expect(contentDays(RULES, app, ...tools)).toBe(days);
  });

  test("about some tools keeps sessions with others, and sessions without calls", () => {
    const text = "retention: [{ app: bank, tool: refund, content: 1d }]";
    expect(contentDays(text, "bank", "refund")).toBe(1);
    expect(contentDays(text, "bank", "refund", "search")).toBeUndefined();
    expect(contentDays(text, "bank")).toBeUndefined();
    expect(contentDays(text, "shop", "refund")).toBeUndefined();
  });
});

function journalDays(text: string, app: string, ...tools: readonly string[]): number | undefined {
  const age = parseRetention("r.yaml", text).rules.journal?.keepMs(app, new Set(tools));
  return age === undefined ? undefined : age / DAY_MS;
}

describe("how long the journal is kept", () => {
  const text = `
retention:
  - { content: 90d, journal: 7y }
  - { app: bank, tool: wire, content: 90d, journal: 10y }
  - { app: bank, tool: contract, content: 90d }
`;

  test("is for ever unless a rule says otherwise, and the longest counts", () => {
    expect(parseRetention("r.yaml", "retention: [{ content: 90d }]").rules.journal).toBeUndefined();
    expect(journalDays(text, "shop", "refund")).toBe(7 * 366);
    expect(journalDays(text, "bank", "refund", "wire")).toBe(10 * 366);
    expect(journalDays(text, "bank", "contract")).toBeUndefined();
    expect(parseRetention("r.yaml", text).rules.journal?.shortestMs).toBe(7 * 366 * DAY_MS);
  });

  test("is never shorter than that of the content", () => {
    const shorter = "retention: [{ content: 90d, journal: 30d }]";
    expect(() => parseRetention("r.yaml", shorter)).toThrow(/journal is shorter than content/);
    const endless = "retention: [{ content: forever, journal: 30d }]";
    expect(() => parseRetention("r.yaml", endless)).toThrow(/journal is shorter than content/);
  });
});

test("how often a server runs it", () => {
  expect(parseRetention("r.yaml", RULES).everyMs).toBe(3_600_000);
  expect(parseRetention("r.yaml", `every: 1d${RULES}`).everyMs).toBe(DAY_MS);
});

test.each([
  ["retention: []", "r.yaml:1:12: retention is empty"],
  ["every: 1h", "r.yaml:1:1: the file lacks retention"],
  ["retention: [{ app: a }]", "r.yaml:1:13: a rule lacks content"],
  ["retention:\n  - { content: 90 days }", 'r.yaml:2:16: content is "90 days"'],
  ["retention:\n  - { content: 0d }", 'r.yaml:2:16: content is "0d"'],
  ["retention: [{ aps: a, content: 1d }]", "did you mean app?"],
  ["retention: [{ app: [], content: 1d }]", "app is empty"],
  ["retention: [{ tool: 'a[b]', content: 1d }]", "only * and ? are wildcards"],
  ["retention: [{ content: 1d, content: 2d }]", "Map keys must be unique"],
  ["retention: [{ content: 1d }]\n---\nretention: []", "one document"],
])("%j is refused with its place", (text, problem) => {
  expect(() => parseRetention("r.yaml", text)).toThrow(problem);
});
