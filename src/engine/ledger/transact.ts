import { CountersignError } from "../../protocol/index.ts";
import { pauseBriefly } from "../common/index.ts";
import type { EngineParts } from "../parts.ts";
import type { Reserved } from "../questions/index.ts";
import type { Commit, CommitOutcome, Snapshot, Target } from "./commit.ts";
import type { Draft } from "./draft.ts";
import { suspendedError } from "./suspension.ts";

/** What a command concluded from a snapshot: a value, and what must be committed for it to be true. */
export interface Plan<T> {
  readonly value: T;
  readonly draft?: Draft;
  /** What the draft takes of the ledger's quota. */
  readonly reserved?: Reserved;
}

/** Why the last try was refused, so that a command can plan without what the ledger would not grant. */
export type Conflict = Extract<CommitOutcome, { ok: false }>["conflict"];

/** Must what this commit makes ready be left to whoever may start it later? */
export function leavesToOthers(last: Conflict | undefined): boolean {
  return last === "busy" || last === "suspended";
}

export type Judge<T> = (
  snapshot: Snapshot | undefined,
  last: Conflict | undefined,
) => Plan<T> | Promise<Plan<T>>;

/** What the caller of the command has just read or committed; there may have been nothing. */
export interface Known {
  readonly snapshot: Snapshot | undefined;
}

const MAX_TRIES = 500;
const MAX_PAUSE_MS = 4;

/**
 * Loads, judges and commits; if the session has changed in between, it starts again. The value is returned only once its draft
 * is committed, so whatever it says is the truth. What is `known` from this process's last commit is tried
 * before anything is loaded; it counts only if it can be committed against.
 */
export async function transact<T>(
  parts: EngineParts,
  target: Target,
  judge: Judge<T>,
  known?: Known,
): Promise<T> {
  const checking = parts.ready();
  if (checking !== undefined) await checking;
  if (known !== undefined) {
    const tried = await conclude(parts, await judge(known.snapshot, undefined));
    if (tried.done && tried.committed) return tried.value;
  }
  const first = await attempt(parts, target, judge, undefined);
  if (first.done) return first.value;
  // Others are at this session: from here on queue up behind those of this process.
  return parts.queue.run(first.session, async () => {
    let last: Refused = first;
    for (let tries = 1; tries < MAX_TRIES; tries++) {
      const next = await attempt(parts, target, judge, last);
      if (next.done) return next.value;
      // It cannot do without starting something.
      if (last.conflict === "suspended" && next.conflict === "suspended") throw suspendedError();
      last = next;
      await pauseBriefly(Math.min(tries, MAX_PAUSE_MS));
    }
    throw new CountersignError("ledger-busy", "The session kept changing while this command ran. Try again.");
  });
}

interface Refused {
  readonly done: false;
  readonly session: string;
  /** The version of the session in which the commit was refused. */
  readonly version: number;
  readonly conflict: Conflict;
}

type Attempt<T> = { readonly done: true; readonly value: T; readonly committed: boolean } | Refused;

async function attempt<T>(
  parts: EngineParts,
  target: Target,
  judge: Judge<T>,
  last: Refused | undefined,
): Promise<Attempt<T>> {
  const snapshot = await parts.ledger.load(target);
  return conclude(parts, await judge(snapshot, conflictNow(last, snapshot)));
}

async function conclude<T>(parts: EngineParts, { draft, value, reserved }: Plan<T>): Promise<Attempt<T>> {
  if (draft === undefined) return { done: true, value, committed: false };
  const commit = draft.toCommit();
  const answered = parts.inFlight.send(commit);
  let outcome: CommitOutcome;
  try {
    outcome = await parts.ledger.commit(commit);
  } catch (error) {
    noteLoss(parts, commit, error);
    throw error;
  } finally {
    answered();
  }
  if (outcome.ok) {
    if (reserved !== undefined) parts.quota.keep(reserved);
    parts.acknowledged.add(commit);
    parts.executions.committed(draft);
    return { done: true, value, committed: true };
  }
  if (outcome.conflict === "owner" && commit.owner !== undefined) parts.lease.lost(commit.owner);
  const { key: session, version } = commit.session;
  if (outcome.conflict !== "history") return { done: false, session, version, conflict: outcome.conflict };
  await parts.lease.historyRefused();
  // What was planned may be committed now, if the session is still as it was read.
  return { done: false, session, version, conflict: "version" };
}

// A ledger that was lost while it was asked may have done it: what was claimed then, nobody here knows of and nobody
// runs.
function noteLoss({ lease }: EngineParts, { owner }: Commit, error: unknown): void {
  const lost = CountersignError.isInstance(error) && error.code === "ledger-unreachable";
  if (lost && owner !== undefined) lease.mayHold(owner);
}

// Whoever kept the session busy may have let go since, and looked for what was ready before anything was left
// so. Only in the same version is it certain that they still have to look.
function conflictNow(last: Refused | undefined, snapshot: Snapshot | undefined): Conflict | undefined {
  const moved = last?.conflict === "busy" && last.version !== snapshot?.session.version;
  return moved ? "version" : last?.conflict;
}
