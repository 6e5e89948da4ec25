import { expect, test } from "vitest";
import { readDelegation, scopeSentence } from "./delegation-words.ts";

const NOW = Date.parse("2026-08-01T08:00:00Z");
const TYPED = { to: " bob ", until: "2026-08-31T08:00:00.000Z", tools: "", apps: "" };

test("what was typed becomes a delegation", () => {
  expect(readDelegation(TYPED, NOW)).toEqual({ ok: true, wanted: { to: "bob", until: TYPED.until } });
  expect(readDelegation({ ...TYPED, tools: "pay*, , refund", apps: "bank" }, NOW)).toMatchObject({
    wanted: { scope: { tool: ["pay*", "refund"], app: ["bank"] } },
  });
});

test.each([{ to: " " }, { until: "" }, { until: "soon" }, { until: "2026-08-01T08:00:00Z" }])(
  "%j is refused",
  (typed) => {
    expect(readDelegation({ ...TYPED, ...typed }, NOW)).toMatchObject({ ok: false });
  },
);

test("the scope is told in words", () => {
  expect(scopeSentence({})).toBe("all questions");
  expect(scopeSentence({ scope: { tool: ["pay*"] } })).toBe("questions about the tools pay*");
  expect(scopeSentence({ scope: { tool: ["pay*"], app: ["bank"] } })).toBe(
    "questions about the tools pay* in the apps bank",
  );
});
