import { expect, test } from "vitest";
import type { Confirmation } from "../../api/types.ts";
import { countWaiting, NO_FILTERS, selectRows } from "./select-rows.ts";

function confirmation(given: Partial<Confirmation>): Confirmation {
  return {
    id: "a",
    tool: "pay",
    agent: "desk",
    user: "ana",
    hint: "Pay?",
    args: {},
    status: "requested",
    can: { decide: true, amend: false, cancel: false },
    ...given,
  } as Confirmation;
}

const select = (all: readonly Confirmation[], change: Partial<Parameters<typeof selectRows>[1]> = {}) =>
  selectRows(all, { filters: NO_FILTERS, snoozed: {}, now: 0, kept: new Set(), ...change }).map(
    ({ id }) => id,
  );

test("the nearest deadline comes first, then those without one, the oldest first", () => {
  const rows = [
    confirmation({ id: "2" }),
    confirmation({ id: "1" }),
    confirmation({ id: "9", expiresAt: "2026-01-02T00:00:00.000Z" }),
    confirmation({ id: "8", expiresAt: "2026-01-01T00:00:00.000Z" }),
  ];
  expect(select(rows)).toEqual(["8", "9", "1", "2"]);
});

test("what is decided stays only where it was shown before", () => {
  const rows = [
    confirmation({ id: "was", status: "denied" }),
    confirmation({ id: "never", status: "denied" }),
  ];
  expect(select(rows, { kept: new Set(["was"]) })).toEqual(["was"]);
});

test("what was put off is away until its time, and then counts again", () => {
  const rows = [confirmation({ id: "x" })];
  expect(select(rows, { snoozed: { x: 10 }, now: 5 })).toEqual([]);
  expect(select(rows, { snoozed: { x: 10 }, now: 5, filters: { ...NO_FILTERS, show: "snoozed" } })).toEqual([
    "x",
  ]);
  expect(select(rows, { snoozed: { x: 10 }, now: 11 })).toEqual(["x"]);
  expect(countWaiting(rows, { x: 10 }, 5)).toBe(0);
  expect(countWaiting(rows, { x: 10 }, 11)).toBe(1);
});

test("what I may not decide is not for me, but I can look at it", () => {
  const rows = [confirmation({ can: { decide: false, amend: false, cancel: true } })];
  expect(select(rows)).toEqual([]);
  expect(select(rows, { filters: { ...NO_FILTERS, show: "all" } })).toEqual(["a"]);
});

test("every word that is searched for has to be somewhere", () => {
  const rows = [confirmation({ id: "hit", args: { to: "Finance@corp" } }), confirmation({ id: "miss" })];
  expect(select(rows, { filters: { ...NO_FILTERS, search: "finance  PAY" } })).toEqual(["hit"]);
});
