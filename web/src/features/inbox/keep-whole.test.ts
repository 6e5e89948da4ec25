import { expect, test } from "vitest";
import type { Confirmation } from "../../api/types.ts";
import { keepWhole } from "./keep-whole.ts";

const whole = {
  id: "c1",
  version: 1,
  digest: "d",
  status: "requested",
  args: { memo: "long ".repeat(1_000) },
  can: { decide: true, amend: false, cancel: false },
} as unknown as Confirmation;
const cut: Confirmation = { ...whole, args: { memo: "long…" }, truncated: true };

test("the whole stays while the same is told of it in short, and what one may do is always the newest", () => {
  expect(keepWhole(whole, cut)).toEqual(whole);
  const can = { decide: false, amend: false, cancel: false };
  expect(keepWhole(whole, { ...cut, can })).toEqual({ ...whole, can });
});

test("the whole goes with any change of what was shown or of its state", () => {
  for (const change of [{ version: 2 }, { digest: "e" }, { status: "denied" }] as const) {
    const told = { ...cut, ...change };
    expect(keepWhole(whole, told)).toBe(told);
  }
});

test("what is told whole, or is the first to be told, is kept as it is", () => {
  expect(keepWhole(cut, whole)).toBe(whole);
  expect(keepWhole(undefined, cut)).toBe(cut);
  expect(keepWhole(cut, cut)).toBe(cut);
});
