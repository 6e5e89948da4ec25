import { describe, expect, test } from "vitest";
import { exactSpan, grantSentence, readLimits, shortLimits, spansUpTo } from "./grant-words.ts";

const MOST = { forMs: 3_600_000, count: 20, sum: { amount: 500 } };

test("a span is told exactly, never rounded", () => {
  expect(exactSpan(3_600_000)).toBe("1 hour");
  expect(exactSpan(5_400_000)).toBe("90 minutes");
  expect(exactSpan(90_061_000)).toBe("90061 seconds");
  expect(exactSpan(1_500)).toBe("1500 milliseconds");
});

test("no span that is offered is longer than the longest", () => {
  expect(spansUpTo(3_600_000)).toEqual([300_000, 900_000, 3_600_000]);
  expect(spansUpTo(1_000)).toEqual([1_000]);
});

test("the sentence says exactly what is granted", () => {
  const call = { tool: "pay", agent: "buyer", session: "s1", user: "rita" };
  expect(grantSentence(call, MOST)).toBe(
    "For 1 hour from the approval, up to 20 further calls of pay by the agent buyer in the session s1 run without asking, as long as “amount” adds up to no more than 500.",
  );
  expect(shortLimits({ forMs: 60_000, count: 1 })).toBe("1 minute · 1 call");
  const wide = { forMs: 60_000, count: 1, scope: "user" } as const;
  expect(grantSentence(call, wide)).toBe(
    "For 1 minute from the approval, up to 1 further call of pay by the agent buyer in any session for rita run without asking.",
  );
  expect(shortLimits(wide)).toBe("1 minute · 1 call · all sessions");
});

describe("what was typed", () => {
  test("becomes limits", () => {
    const typed = {
      scope: "session",
      forMs: 300_000,
      count: "3",
      sum: { amount: "12.50" },
      where: "",
    } as const;
    const limits = { forMs: 300_000, count: 3, sum: { amount: 12.5 } };
    expect(readLimits(MOST, typed)).toEqual({ ok: true, limits });
    const wide = readLimits({ ...MOST, scope: "user" }, { ...typed, scope: "user" });
    expect(wide).toEqual({ ok: true, limits: { ...limits, scope: "user" } });
  });

  test("keeps the rules' conditions, and adds its own", () => {
    const most = { ...MOST, where: ["args.to != ''"] };
    const typed = {
      scope: "session" as const,
      forMs: 300_000,
      count: "3",
      sum: {},
      where: ' args.to == "acme" ',
    };
    const read = readLimits(most, typed);
    expect(read).toMatchObject({ ok: true, limits: { where: ["args.to != ''", 'args.to == "acme"'] } });
    expect(read.ok && shortLimits(read.limits)).toContain(`only where args.to != '' and args.to == "acme"`);
  });

  test.each([
    { count: "21" },
    { count: "0" },
    { count: "1.5" },
    { count: "" },
    { sum: { amount: "501" } },
    { sum: { amount: "0" } },
    { sum: { amount: "-1" } },
    { sum: { amount: "1e2" } },
    { sum: { amount: "" } },
  ])("%j is refused", (typed) => {
    expect(
      readLimits(MOST, { scope: "session", forMs: 1, count: "1", sum: {}, where: "", ...typed }),
    ).toMatchObject({
      ok: false,
    });
  });
});
