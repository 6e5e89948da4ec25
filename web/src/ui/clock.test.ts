import { expect, test } from "vitest";
import { outdated, serverNow } from "./clock.ts";

test("how old an answer is, is said only where it matters", () => {
  const asOf = (ms: number): string => new Date(serverNow() - ms).toISOString();
  expect(outdated(undefined)).toBeUndefined();
  expect(outdated(asOf(1_000))).toBeUndefined();
  const old = asOf(20_000);
  expect(outdated(old)).toBe(old);
});
