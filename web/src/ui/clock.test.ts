import { expect, test } from "vitest";
import { outdated, serverNow } from "./clock.ts";

function asOf(ms: number): string {
  return new Date(serverNow() - ms).toISOString();
}

test("how old an answer is, is said only where it matters", () => {
  expect(outdated(undefined)).toBeUndefined();
  expect(outdated(asOf(1_000))).toBeUndefined();
  const old = asOf(20_000);
  expect(outdated(old)).toBe(old);
});
