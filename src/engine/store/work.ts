import type { HostedApp } from "../host.ts";
import type { DuePlace, DueWork } from "../ledger/index.ts";
import { NO_DEADLINE } from "./entries.ts";
import type { Entry, EntryQuery, LostQuery, Store } from "./store.ts";

interface DueRange {
  readonly limit: number;
  readonly after: DuePlace | undefined;
}

/** What waits for a process that hosts these. */
export async function readDue(
  store: Store,
  hosted: readonly HostedApp[],
  { limit, after }: DueRange,
): Promise<DueWork> {
  const lost = await store.lost(lostQueries(after), limit);
  const { now } = store;
  const [ahead = [], planned = [], ...pages] = await store.entries([
    { facet: "open", value: "", limit: 1, after: [now, "\u{10ffff}"] },
    { facet: "due", value: "", limit: 1, after: [now, "\u{10ffff}"] },
    ...dueQueries(hosted, { limit, after }).map((query) =>
      query.facet === "open" || query.facet === "due" ? { ...query, until: now } : query,
    ),
  ]);
  const found = [...lost, ...pages.flat()];
  const listOf = (facet: string): readonly Entry[] => found.filter((entry) => entry.facet === facet);
  const lists = {
    expired: listOf("open"),
    unannounced: listOf("due"),
    readyCalls: listOf("ready call").toSorted(byId).slice(0, limit),
    readyFrames: listOf("ready frame").toSorted(byId).slice(0, limit),
    lostCalls: listOf("held call"),
    lostFrames: listOf("held frame"),
  };
  const nextDeadline = Math.min(...[...ahead, ...planned].map(({ sort }) => sort), NO_DEADLINE);
  const next = placeBehind(lists, limit);
  return {
    expired: idsOf(lists.expired),
    unannounced: idsOf(lists.unannounced),
    readyCalls: idsOf(lists.readyCalls),
    readyFrames: idsOf(lists.readyFrames),
    lostCalls: idsOf(lists.lostCalls),
    lostFrames: idsOf(lists.lostFrames),
    ...(nextDeadline === NO_DEADLINE ? {} : { nextDeadline }),
    ...(Object.keys(next).length === 0 ? {} : { next }),
    now,
  };
}

function lostQueries(after: DuePlace | undefined): readonly LostQuery[] {
  if (after === undefined) return [{ facet: "held call" }, { facet: "held frame" }];
  const { lostCalls, lostFrames } = after;
  return [
    ...(lostCalls === undefined ? [] : [{ facet: "held call", after: lostCalls }]),
    ...(lostFrames === undefined ? [] : [{ facet: "held frame", after: lostFrames }]),
  ];
}

function dueQueries(
  hosted: readonly HostedApp[],
  { limit, after = { expired: FIRST, unannounced: FIRST, readyCalls: "", readyFrames: "" } }: DueRange,
): readonly EntryQuery[] {
  const { expired, unannounced, readyCalls, readyFrames } = after;
  const ready = (facet: string, id: string): readonly EntryQuery[] =>
    hosted.map(({ app, agents }) => ({
      facet,
      value: app,
      limit,
      after: [0, id],
      ...(agents === undefined ? {} : { notes: agents }),
    }));
  return [
    ...(expired === undefined ? [] : [{ facet: "open", value: "", limit, after: expired }]),
    ...(unannounced === undefined ? [] : [{ facet: "due", value: "", limit, after: unannounced }]),
    ...(readyCalls === undefined ? [] : ready("ready call", readyCalls)),
    ...(readyFrames === undefined ? [] : ready("ready frame", readyFrames)),
  ];
}

const FIRST: readonly [number, string] = [Number.MIN_SAFE_INTEGER, ""];

/** A list that is full may go on behind its last entry. */
function placeBehind(
  lists: { readonly [list in keyof DuePlace]-?: readonly Entry[] },
  limit: number,
): DuePlace {
  const lastOf = (entries: readonly Entry[]): Entry | undefined =>
    entries.length < limit ? undefined : entries.at(-1);
  const expired = lastOf(lists.expired);
  const unannounced = lastOf(lists.unannounced);
  const readyCall = lastOf(lists.readyCalls);
  const readyFrame = lastOf(lists.readyFrames);
  const lostCall = lastOf(lists.lostCalls);
  const lostFrame = lastOf(lists.lostFrames);
  return {
    ...(expired && { expired: [expired.sort, expired.id] }),
    ...(unannounced && { unannounced: [unannounced.sort, unannounced.id] }),
    ...(readyCall && { readyCalls: readyCall.id }),
    ...(readyFrame && { readyFrames: readyFrame.id }),
    ...(lostCall && { lostCalls: [lostCall.value, lostCall.sort, lostCall.id] }),
    ...(lostFrame && { lostFrames: [lostFrame.value, lostFrame.sort, lostFrame.id] }),
  };
}

function byId(a: Entry, b: Entry): number {
  return a.id < b.id ? -1 : 1;
}

function idsOf(entries: readonly Entry[]): readonly string[] {
  return entries.map(({ id }) => id);
}
