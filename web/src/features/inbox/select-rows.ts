import type { Confirmation } from "../../api/types.ts";

export interface Filters {
  readonly show: "mine" | "all" | "snoozed" | "unknown" | "decided";
  readonly tool: string;
  readonly agent: string;
  readonly user: string;
  readonly search: string;
}

export const NO_FILTERS: Filters = { show: "mine", tool: "", agent: "", user: "", search: "" };

interface Selecting {
  readonly filters: Filters;
  readonly snoozed: { readonly [id: string]: number };
  readonly now: number;
  /** Decided ones that stay, because they were here before. */
  readonly kept: ReadonlySet<string>;
}

const FACETS = ["tool", "agent", "user"] as const;
const searchTexts = new WeakMap<Confirmation, string>();

/** The rows of the inbox: nearest deadline first, then the oldest. */
export function selectRows(all: Iterable<Confirmation>, selecting: Selecting): readonly Confirmation[] {
  const rows: Confirmation[] = [];
  const words = selecting.filters.search.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of all) if (isWanted(item, selecting) && matches(item, words)) rows.push(item);
  return rows.sort(byDeadline);
}

/** Those that wait for this person now. */
export function countWaiting(
  all: Iterable<Confirmation>,
  snoozed: { readonly [id: string]: number },
  now: number,
): number {
  let count = 0;
  for (const { id, status, can } of all) {
    if (status === "requested" && can.decide && (snoozed[id] ?? 0) <= now) count += 1;
  }
  return count;
}

function isWanted(item: Confirmation, { filters, snoozed, now, kept }: Selecting): boolean {
  const { show } = filters;
  if (FACETS.some((facet) => filters[facet] !== "" && filters[facet] !== item[facet])) return false;
  const isSnoozed = (snoozed[item.id] ?? 0) > now;
  if (show === "snoozed") return isSnoozed && item.status === "requested";
  if (show === "unknown") return item.status === "unknown";
  if (show === "decided") return item.status !== "requested";
  if (item.status !== "requested") return kept.has(item.id);
  if (isSnoozed) return false;
  return show === "all" || item.can.decide;
}

function matches(item: Confirmation, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  let text = searchTexts.get(item);
  if (text === undefined) {
    const { tool, agent, user, hint, args, id } = item;
    text = `${tool} ${agent} ${user} ${hint} ${id} ${JSON.stringify(args)}`.toLowerCase();
    searchTexts.set(item, text);
  }
  return words.every((word) => text.includes(word));
}

function byDeadline(left: Confirmation, right: Confirmation): number {
  const first = left.expiresAt ?? "9";
  const second = right.expiresAt ?? "9";
  if (first !== second) return first < second ? -1 : 1;
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0;
}
