import { expect, test } from "vitest";
import { NO_FILTERS, readHistoryFilters, toQuery, writeHistoryFilters } from "./history-filters.ts";

test("filters are the same after the address was read again, and none leaves none behind", () => {
  const filters = { ...NO_FILTERS, status: "denied", q: "pay & ship #1", since: "2026-11-16" } as const;
  expect(readHistoryFilters(writeHistoryFilters(filters))).toEqual(filters);
  expect(writeHistoryFilters(NO_FILTERS)).toBe("");
  expect(readHistoryFilters("")).toEqual(NO_FILTERS);
});

test("what is no filter counts for nothing", () => {
  expect(readHistoryFilters("status=requested&other=1")).toEqual(NO_FILTERS);
  expect(toQuery({ ...NO_FILTERS, since: "soon", until: "2026-1-1" })).toEqual(toQuery(NO_FILTERS));
});
