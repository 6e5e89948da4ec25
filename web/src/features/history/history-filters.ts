import type { ListOptions } from "countersign/client";
import { useMemo } from "react";
import type { Status } from "../../api/types.ts";
import { replaceSearch, useSearch } from "../../router.ts";

/** What the history lists: everything that no longer waits. */
export const CLOSED: readonly Status[] = [
  "approved",
  "executing",
  "succeeded",
  "failed",
  "unknown",
  "denied",
  "expired",
  "cancelled",
];

export interface HistoryFilters {
  readonly q: string;
  readonly status: Status | "";
  readonly tool: string;
  readonly user: string;
  readonly decidedBy: string;
  /** Days in the reader's own time zone, as in `2026-11-16`. */
  readonly since: string;
  readonly until: string;
}

export const NO_FILTERS: HistoryFilters = {
  q: "",
  status: "",
  tool: "",
  user: "",
  decidedBy: "",
  since: "",
  until: "",
};

const NAMES = Object.keys(NO_FILTERS) as (keyof HistoryFilters)[];

/** The filters, kept in the address: whoever opens a request and comes back finds the same list. */
export function useHistoryFilters(): readonly [HistoryFilters, (filters: HistoryFilters) => void] {
  const search = useSearch();
  const filters = useMemo(() => readHistoryFilters(search), [search]);
  return [filters, (changed) => replaceSearch(writeHistoryFilters(changed))];
}

export function readHistoryFilters(search: string): HistoryFilters {
  const given = new URLSearchParams(search);
  const found = Object.fromEntries(NAMES.map((name) => [name, given.get(name) ?? ""]));
  const filters = { ...NO_FILTERS, ...found };
  return { ...filters, status: CLOSED.find((status) => status === filters.status) ?? "" };
}

/** Only what is filtered by. */
export function writeHistoryFilters(filters: HistoryFilters): string {
  const set = NAMES.filter((name) => filters[name] !== "");
  return new URLSearchParams(set.map((name) => [name, filters[name]])).toString();
}

export function isFiltered(filters: HistoryFilters): boolean {
  return NAMES.some((name) => filters[name] !== "");
}

export function toQuery({ status, since, until, ...texts }: HistoryFilters): ListOptions {
  const given = Object.entries(texts).flatMap(([name, text]) =>
    text.trim() === "" ? [] : [[name, text.trim()]],
  );
  const [from, to] = [startOf(since, 0), startOf(until, 1)];
  return {
    status: status === "" ? CLOSED : status,
    ...(Object.fromEntries(given) as Partial<typeof texts>),
    ...(from === undefined ? {} : { since: from }),
    ...(to === undefined ? {} : { until: to }),
  };
}

/** When a day begins where the reader is, so many days later; nothing for what is no day, which an address may have. */
function startOf(day: string, later: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (date === undefined) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(date) + later).toISOString();
}
