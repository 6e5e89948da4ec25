import { useMemo, useSyncExternalStore } from "react";
import { type Filters, NO_FILTERS } from "./select-rows.ts";

const NAMES = Object.keys(NO_FILTERS) as (keyof Filters)[];
const SHOWS: ReadonlySet<string> = new Set<Filters["show"]>(["mine", "all", "snoozed", "unknown", "decided"]);

/** The filters, kept in the address: a reload, a bookmark or a link shows the same list. */
export function useFilters(): readonly [Filters, (filters: Filters) => void] {
  const search = useSyncExternalStore(onAddress, () => window.location.search);
  const filters = useMemo(() => readFilters(search), [search]);
  return [filters, setFilters];
}

/** Changes the filters, and nothing else of the address. */
export function setFilters(filters: Filters): void {
  const { pathname, hash } = window.location;
  window.history.replaceState(null, "", `${pathname}${writeFilters(filters)}${hash}`);
  window.dispatchEvent(new Event(CHANGED));
}

const CHANGED = "countersign:filters";

function onAddress(listener: () => void): () => void {
  window.addEventListener("popstate", listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener("popstate", listener);
    window.removeEventListener(CHANGED, listener);
  };
}

export function readFilters(search: string): Filters {
  const given = new URLSearchParams(search);
  const found = Object.fromEntries(NAMES.map((name) => [name, given.get(name) ?? NO_FILTERS[name]]));
  const filters = { ...NO_FILTERS, ...found };
  return SHOWS.has(filters.show) ? filters : { ...filters, show: NO_FILTERS.show };
}

/** Only what differs from no filter. */
export function writeFilters(filters: Filters): string {
  const set = NAMES.filter((name) => filters[name] !== NO_FILTERS[name]);
  const query = new URLSearchParams(set.map((name) => [name, filters[name]])).toString();
  return query === "" ? "" : `?${query}`;
}
