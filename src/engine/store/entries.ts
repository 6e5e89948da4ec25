import type { CallRecord, ConfirmationRecord, FrameRecord, GrantRecord } from "../ledger/index.ts";
import { dueAt, viewersOf } from "../people/index.ts";
import type { Entry } from "./store.ts";

/** Later than every deadline. */
export const NO_DEADLINE: number = Number.MAX_SAFE_INTEGER;

/** The facets by which open questions can be listed, besides who may see them. Those of a session are in its document. */
export const OPEN_FACETS = ["user", "tool", "agent", "app"] as const;
const OPEN_ENTRIES = OPEN_FACETS.map((member) => ({ member, facet: `open ${member}` }));

/** What finds a question: while it is open by its deadline, afterwards by when it was asked. */
export function entriesOfConfirmation(confirmation: ConfirmationRecord): readonly Entry[] {
  const { id, status, requestedAt, expiresAt = NO_DEADLINE } = confirmation;
  const viewers = viewersOf(confirmation);
  if (status !== "requested") {
    return [
      { facet: "closed", value: "", sort: requestedAt, id },
      { facet: "closed session", value: confirmation.session, sort: requestedAt, id },
      ...viewers.map((value) => ({ facet: "closed viewer", value, sort: requestedAt, id })),
    ];
  }
  const due = dueAt(confirmation);
  return [
    { facet: "open", value: "", sort: expiresAt, id },
    ...(due === undefined ? [] : [{ facet: "due", value: "", sort: due, id }]),
    ...OPEN_ENTRIES.map(({ member, facet }) => ({
      facet,
      value: confirmation[member],
      sort: expiresAt,
      id,
    })),
    ...viewers.map((value) => ({ facet: "open viewer", value, sort: expiresAt, id })),
  ];
}

export function entriesOfCall(call: CallRecord): readonly Entry[] {
  const { id, status, owner, attempt, app, agent, runs } = call;
  switch (status) {
    case "ready":
      // What its caller runs waits for the caller, not for a process of ours.
      return runs === "caller" ? [] : [{ facet: "ready call", value: app, sort: 0, id, note: agent }];
    case "executing":
      return [{ facet: "held call", value: owner ?? "", sort: attempt, id }];
    case "unknown":
      return [{ facet: "unknown call", value: "", sort: 0, id, note: owner ?? "" }];
    default:
      return [];
  }
}

/** What finds a grant, by its end, until it is revoked. */
export function entryOfGrant({ id, endsAt, revoked }: GrantRecord): readonly Entry[] {
  return revoked === undefined ? [{ facet: "grant", value: "", sort: endsAt, id }] : [];
}

export function entriesOfFrame({ id, status, owner, turn, app, agent }: FrameRecord): readonly Entry[] {
  if (status === "ready") return [{ facet: "ready frame", value: app, sort: 0, id, note: agent }];
  if (status === "stepping" && owner !== undefined)
    return [{ facet: "held frame", value: owner, sort: turn, id }];
  return [];
}
