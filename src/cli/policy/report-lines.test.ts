import { expect, test } from "vitest";
import type { BacktestReport, Difference } from "../../policy/index.ts";
import { checkedLine, replayLines, testedLine } from "./report-lines.ts";

const NONE: Difference = { count: 0, approved: 0, denied: 0, examples: [] };
const REPORT: BacktestReport = {
  calls: 0,
  stopsAsking: NONE,
  newlyAsks: NONE,
  newlyDenies: NONE,
  stopsDenying: NONE,
  suggestions: [],
};
const WHERE = { file: "new.yaml", since: "30d" };

function told(report: Partial<BacktestReport>): readonly string[] {
  return replayLines({ ...REPORT, ...report }, WHERE).map(({ text }) => text);
}

test("a replay says how many calls it judged, in the singular and the plural", () => {
  expect(told({})).toEqual(["There are no calls in the last 30d. Nothing was compared."]);
  expect(told({ calls: 1 })).toEqual(["1 call of the last 30d judged by new.yaml: nothing would change."]);
  expect(told({ calls: 2 })).toEqual(["2 calls of the last 30d judged by new.yaml: nothing would change."]);
});

function ids(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `c${index}`);
}

test("a replay says only what would change, and which calls the ids are", () => {
  expect(
    told({
      calls: 90,
      stopsAsking: { count: 41, approved: 39, denied: 2, examples: ids(2) },
      newlyAsks: { count: 30, approved: 0, denied: 0, examples: ids(20) },
      newlyDenies: { count: 1, approved: 0, denied: 1, examples: ids(1) },
      stopsDenying: { count: 1, approved: 0, denied: 0, examples: [] },
    }),
  ).toEqual([
    "90 calls of the last 30d judged by new.yaml. The policy",
    "would stop asking 41 times; people approved 39 and denied 2 of those. The denied ones:",
    "would newly ask 30 times. The first 20 ones:",
    "would newly deny once; people approved 0 and denied 1 of those. The denied one:",
    "would stop denying once",
  ]);
});

test("a check says what it did not run", () => {
  expect(checkedLine({ rules: 1, tests: 0 })).toBe("no problems in 1 rule; it has no tests");
  expect(checkedLine({ rules: 2, tests: 1 })).toBe(
    "no problems in 2 rules; 1 test not run; `policy test` does",
  );
});

test("a test run says how many passed or failed", () => {
  const failure = { file: "p.yaml", line: 1, column: 1, message: "no" };
  expect(testedLine({ tests: 0, failures: [] })).toBe("it has no tests");
  expect(testedLine({ tests: 1, failures: [] })).toBe("1 test passed");
  expect(testedLine({ tests: 3, failures: [] })).toBe("all 3 tests passed");
  expect(testedLine({ tests: 3, failures: [failure] })).toBe("1 of 3 tests failed");
  expect(testedLine({ tests: 1, failures: [failure] })).toBe("1 of 1 test failed");
});
