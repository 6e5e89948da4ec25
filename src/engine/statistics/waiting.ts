import type { ConfirmationRecord, ListRequest, Lists, Page } from "../ledger/index.ts";

const SECOND = 1_000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Upper bounds of the ages, in seconds; the last group has none. */
const AGES = [5 * MINUTE, 30 * MINUTE, 2 * HOUR, 8 * HOUR, DAY, 3 * DAY, 7 * DAY] as const;
/** How many are counted; if there are more, those with the nearest deadline. */
const MOST = 1_000;
/** At a time: what does not fit into one page would be read again with the next. */
const PAGE = 500;

/** What waits for a person now. */
export interface Waiting {
  readonly count: number;
  /** There are more than were looked at. */
  readonly capped: boolean;
  /** The age of the question that has waited longest. */
  readonly oldestSeconds?: number;
  /** By how long they have waited. `upTo` is in seconds; the last group has none. */
  readonly ages: readonly { readonly upTo?: number; readonly count: number }[];
}

/** What of the waiting questions somebody sees. */
export interface Sight {
  /** Shown to one of these. */
  readonly viewers: readonly string[];
  readonly isSeen: (confirmation: ConfirmationRecord) => boolean;
}

/** What waits and is seen; without a sight, everything that waits. */
export async function readWaiting(
  lists: Pick<Lists, "confirmations">,
  now: number,
  sight?: Sight,
): Promise<Waiting> {
  const viewers = sight === undefined ? {} : { viewers: sight.viewers };
  const found = await upTo(MOST, (page) => lists.confirmations({ state: "open", ...viewers }, page));
  const seconds = found.items
    .filter(({ confirmation }) => sight?.isSeen(confirmation) ?? true)
    .map(({ confirmation }) => Math.max(0, Math.floor((now - confirmation.requestedAt) / SECOND)));
  const bounds = [0, ...AGES, Number.POSITIVE_INFINITY];
  const ages = bounds.slice(1).map((bound, i) => ({
    ...(Number.isFinite(bound) ? { upTo: bound } : {}),
    count: seconds.filter((age) => age < bound && age >= (bounds[i] ?? 0)).length,
  }));
  return {
    count: seconds.length,
    capped: found.hasMore,
    ...(seconds.length === 0 ? {} : { oldestSeconds: Math.max(...seconds) }),
    ages,
  };
}

/** The first `most` items of a list; a page may be short without being the last. */
async function upTo<T>(
  most: number,
  list: (request: ListRequest) => Promise<Page<T>>,
): Promise<{ readonly items: readonly T[]; readonly hasMore: boolean }> {
  const items: T[] = [];
  for (let cursor: string | undefined; ; ) {
    const limit = Math.min(PAGE, most - items.length);
    const page = await list({ preview: true, limit, ...(cursor === undefined ? {} : { cursor }) });
    items.push(...page.items);
    if (page.next === undefined || items.length >= most) return { items, hasMore: page.next !== undefined };
    cursor = page.next;
  }
}
