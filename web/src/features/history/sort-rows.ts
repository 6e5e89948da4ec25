import type { Confirmation } from "../../api/types.ts";
import { questionText } from "../confirmation/card/question.ts";
import { statusWord } from "../confirmation/status-words.ts";

/** The columns by which the history can be sorted. */
export const SORTABLE = ["what", "requester", "state", "decided"] as const;
export type SortColumn = (typeof SORTABLE)[number];

export interface Sorting {
  readonly by: SortColumn;
  readonly descending: boolean;
}

const READ: Readonly<Record<SortColumn, (item: Confirmation) => string>> = {
  what: (item) => questionText(item).toLowerCase(),
  requester: ({ user }) => user.toLowerCase(),
  state: ({ status }) => statusWord(status).word,
  // Times in ISO 8601 sort as texts. What was withdrawn has the time at which it was asked.
  decided: (item) => endOf(item) ?? item.requestedAt,
};

/** When it was decided, or its time was up. */
export function endOf({ decision, status, expiresAt }: Confirmation): string | undefined {
  return decision?.at ?? (status === "expired" ? expiresAt : undefined);
}

/** Rows in the order of a column; those that are the same in it stay in the order of the server. */
export function sortRows(
  items: readonly Confirmation[],
  sorting: Sorting | undefined,
): readonly Confirmation[] {
  if (sorting === undefined) return items;
  const read = READ[sorting.by];
  const sign = sorting.descending ? -1 : 1;
  return items
    .map((item) => [read(item), item] as const)
    .toSorted(([a], [b]) => (a === b ? 0 : a < b ? -sign : sign))
    .map(([, item]) => item);
}

/** What pressing a column's head leads to: up, down, and back to the server's order. */
export function nextSorting(before: Sorting | undefined, by: SortColumn): Sorting | undefined {
  if (before?.by !== by) return { by, descending: false };
  return before.descending ? undefined : { by, descending: true };
}
