import type { HostedApp } from "../host.ts";
import type { DueWork, HeldWork } from "../ledger/index.ts";
import { NO_DEADLINE } from "./entries.ts";
import type { Entry, EntryQuery, Store } from "./store.ts";

/** What waits for a process that hosts these. */
export async function readDue(store: Store, hosted: readonly HostedApp[], limit: number): Promise<DueWork> {
  const lost = await store.lost(["held call", "held frame"], limit);
  const { now } = store;
  const ready = (facet: string): readonly EntryQuery[] =>
    hosted.map(({ app, agents }) => ({
      facet,
      value: app,
      limit,
      ...(agents === undefined ? {} : { notes: agents }),
    }));
  const [expired = [], next = [], ...rest] = await store.entries([
    { facet: "open", value: "", limit, until: now },
    { facet: "open", value: "", limit: 1, after: [now, "\u{10ffff}"] },
    ...ready("ready call"),
    ...ready("ready frame"),
  ]);
  const [nextDeadline] = next.map(({ sort }) => sort);
  return {
    expired: idsOf(expired),
    readyCalls: oldest(rest.slice(0, hosted.length), limit),
    readyFrames: oldest(rest.slice(hosted.length), limit),
    lostCalls: idsOf(lost.filter(({ facet }) => facet === "held call")),
    lostFrames: idsOf(lost.filter(({ facet }) => facet === "held frame")),
    ...(nextDeadline === undefined || nextDeadline === NO_DEADLINE ? {} : { nextDeadline }),
    now,
  };
}

/** What an owner holds. */
export async function readHeld(store: Store, owner: string): Promise<HeldWork> {
  const page = { value: owner, limit: Number.MAX_SAFE_INTEGER };
  const [calls = [], frames = []] = await store.entries([
    { facet: "held call", ...page },
    { facet: "held frame", ...page },
  ]);
  return {
    calls: calls.map(({ id, sort }) => ({ id, attempt: sort })),
    frames: frames.map(({ id, sort }) => ({ id, turn: sort })),
  };
}

function oldest(pages: readonly (readonly Entry[])[], limit: number): readonly string[] {
  return idsOf(pages.flat()).toSorted().slice(0, limit);
}

function idsOf(entries: readonly Entry[]): readonly string[] {
  return entries.map(({ id }) => id);
}
