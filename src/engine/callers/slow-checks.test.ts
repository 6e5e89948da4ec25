import { expect, test } from "vitest";
import { SlowChecks } from "./slow-checks.ts";

function checksOf() {
  let now = 0;
  const checks = new SlowChecks({ monotonic: () => now });
  const pass = (ms: number): void => {
    now += ms;
  };
  const check = (caller: string, ms: number): unknown => {
    try {
      return checks.run(caller, () => pass(ms) ?? "checked");
    } catch (error) {
      return (error as { readonly code: string }).code;
    }
  };
  return { check, pass };
}

test("a caller whose schemas take long waits, and nobody else does", () => {
  const { check, pass } = checksOf();
  expect([check("eve", 900), check("eve", 1_500), check("eve", 1)]).toEqual([
    "checked",
    "checked",
    "rate-limited",
  ]);
  expect(check("ana", 1_500)).toBe("checked");
  pass(60_000);
  expect(check("eve", 1)).toBe("checked");
});

test("short checks are not counted", () => {
  const { check } = checksOf();
  for (let times = 0; times < 500; times += 1) expect(check("ana", 20)).toBe("checked");
});

function fail(): never {
  throw new SyntaxError("no JSON");
}

test("a check that throws is counted too", () => {
  const times = [0, 5_000, 5_001];
  const checks = new SlowChecks({ monotonic: () => times.shift() ?? 0 });
  expect(() => checks.run("eve", fail)).toThrow(SyntaxError);
  expect(() => checks.run("eve", () => 1)).toThrow("took too long");
});
