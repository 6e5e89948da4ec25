import { CountersignError } from "../protocol/index.ts";
import { jitter } from "./clock.ts";
import type { Draft } from "./draft.ts";
import type { CommitOutcome, Snapshot, Target } from "./ledger.ts";
import type { EngineParts } from "./parts.ts";

/** What a command concluded from a snapshot: a value, and what must be committed for it to be true. */
export interface Plan<T> {
  readonly value: T;
  readonly draft?: Draft;
}

/** Why the last try was refused, so that a command can plan without what the ledger would not grant. */
export type Conflict = Extract<CommitOutcome, { ok: false }>["conflict"];

export type Judge<T> = (
  snapshot: Snapshot | undefined,
  last: Conflict | undefined,
) => Plan<T> | Promise<Plan<T>>;

const MAX_TRIES = 500;
const MAX_PAUSE_MS = 4;

/**
 * Load, judge, commit; when the session moved in between, again. The value is returned only once its draft
 * is committed, so whatever it says is the truth.
 */
export async function transact<T>(parts: EngineParts, target: Target, judge: Judge<T>): Promise<T> {
  const first = await attempt(parts, target, judge, undefined);
  if (first.done) return first.value;
  // Others are at this session: from here on queue up behind those of this process.
  return parts.queue.run(first.session, async () => {
    let last = first.conflict;
    for (let tries = 1; tries < MAX_TRIES; tries++) {
      const next = await attempt(parts, target, judge, last);
      if (next.done) return next.value;
      last = next.conflict;
      await parts.clock.sleep(jitter(Math.min(tries, MAX_PAUSE_MS)));
    }
    throw new CountersignError("ledger-busy", "The session kept changing under this command; try again.");
  });
}

type Attempt<T> =
  | { readonly done: true; readonly value: T }
  | { readonly done: false; readonly session: string; readonly conflict: Conflict };

async function attempt<T>(
  parts: EngineParts,
  target: Target,
  judge: Judge<T>,
  last: Conflict | undefined,
): Promise<Attempt<T>> {
  const plan = await judge(await parts.ledger.load(target), last);
  if (plan.draft === undefined) return { done: true, value: plan.value };
  const commit = plan.draft.toCommit();
  const outcome = await parts.ledger.commit(commit);
  if (outcome.ok) return { done: true, value: plan.value };
  if (outcome.conflict === "owner" && commit.owner !== undefined) parts.lease.lost(commit.owner);
  return { done: false, session: commit.session.key, conflict: outcome.conflict };
}
