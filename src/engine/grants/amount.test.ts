import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { amountOf, amountText, isMore, plus, readSum } from "./amount.ts";

describe("what counts as an amount", () => {
  test.each([
    [0, "0"],
    [5, "5"],
    [0.1, "0.1"],
    [1234.5, "1234.5"],
    [999_999_999_999_999, "999999999999999"],
    [0.000001, "0.000001"],
  ])("%s is %s", (value, text) => {
    const amount = amountOf(value);
    expect(amount && amountText(amount)).toBe(text);
  });

  test.each([
    -1,
    -0,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e308,
    1e21,
    1e-7,
    5e-324,
    0.1 + 0.2,
    Number.MAX_SAFE_INTEGER,
    "5",
    "",
    null,
    undefined,
    true,
    [5],
    { amount: 5 },
    5n,
  ])("%s is none", (value) => {
    expect(amountOf(value)).toBeUndefined();
  });
});

test("ten times 0.1 is 1, and not more", () => {
  const [tenth, one] = [amountOf(0.1), amountOf(1)];
  if (tenth === undefined || one === undefined) throw new Error("no amounts");
  const sum = Array.from({ length: 10 }, () => tenth).reduce(plus);
  expect(amountText(sum)).toBe("1");
  expect(isMore(sum, one)).toBe(false);
  expect(isMore(plus(sum, { units: 1n, places: 30 }), one)).toBe(true);
});

test("sums of cents are exact, whatever the order, and survive being stored", () => {
  const cents = fc.array(fc.integer({ min: 0, max: 10_000_000 }), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(cents, (all) => {
      const amounts = all.map((one) => amountOf(one / 100));
      let sum = readSum("0");
      for (const amount of amounts) {
        if (amount === undefined || sum === undefined) throw new Error("no amount");
        sum = readSum(amountText(plus(sum, amount)));
      }
      const total = all.reduce((one, other) => one + other, 0);
      const expected = amountOf(total / 100);
      expect(sum && amountText(sum)).toBe(expected && amountText(expected));
    }),
  );
});
