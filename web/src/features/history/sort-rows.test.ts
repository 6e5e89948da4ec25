import { expect, test } from "vitest";
import type { Confirmation } from "../../api/types.ts";
import { nextSorting, sortRows } from "./sort-rows.ts";

const row = (id: string, user: string, decidedAt?: string): Confirmation =>
  ({
    id,
    user,
    status: "denied",
    tool: "pay",
    args: {},
    hint: id,
    requestedAt: "2026-01-02T00:00:00.000Z",
    ...(decidedAt === undefined ? {} : { decision: { at: decidedAt } }),
  }) as unknown as Confirmation;

const rows = [
  row("1", "zoe", "2026-01-03T00:00:00.000Z"),
  row("2", "Ana"),
  row("3", "ana", "2026-01-01T00:00:00.000Z"),
];
const idsOf = (items: readonly Confirmation[]): string => items.map(({ id }) => id).join("");

test("rows are sorted by what a column shows, and equal ones keep their order", () => {
  expect(idsOf(sortRows(rows, undefined))).toBe("123");
  expect(idsOf(sortRows(rows, { by: "requester", descending: false }))).toBe("231");
  expect(idsOf(sortRows(rows, { by: "requester", descending: true }))).toBe("123");
  expect(idsOf(sortRows(rows, { by: "decided", descending: false }))).toBe("321");
  expect(idsOf(sortRows(rows, { by: "state", descending: true }))).toBe("123");
});

test("a head is pressed for up, down, and back", () => {
  const up = nextSorting(undefined, "state");
  const down = nextSorting(up, "state");
  expect([up, down, nextSorting(down, "state")]).toEqual([
    { by: "state", descending: false },
    { by: "state", descending: true },
    undefined,
  ]);
  expect(nextSorting(down, "what")).toEqual({ by: "what", descending: false });
});
