import { expect, test } from "vitest";
import { readFilters, writeFilters } from "./filters-in-address.ts";
import { NO_FILTERS } from "./select-rows.ts";

test("filters are the same after the address was read again, and none leaves none behind", () => {
  const filters = { ...NO_FILTERS, show: "all", tool: "pay & ship", search: "ü 5" } as const;
  expect(readFilters(writeFilters(filters))).toEqual(filters);
  expect(writeFilters(NO_FILTERS)).toBe("");
  expect(readFilters("")).toEqual(NO_FILTERS);
});

test("what is no filter counts for nothing", () => {
  expect(readFilters("?show=everything&other=1")).toEqual(NO_FILTERS);
});
