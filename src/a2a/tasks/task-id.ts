import type { StartedRun } from "../../runtime/index.ts";

/**
 * A task is a run, and its id says where it is in the ledger: the session, the position of its first message among the
 * session's events, and the invocation. So it needs no storage, and any server on the database finds it.
 */
export interface TaskRef {
  /** The session's key in the ledger. */
  readonly session: string;
  /** Counts from 1. */
  readonly seq: number;
  readonly invocation: string;
}

export function taskIdOf({ session, seq, invocation }: TaskRef): string {
  return `${session}.${seq}.${invocation}`;
}

/** The task that a message began. */
export function startedTask({ session, after, invocation }: StartedRun): TaskRef {
  return { session, seq: after, invocation };
}

const FORM = /^([0-9a-z]+)\.([1-9]\d{0,14})\.([\w-]+)$/;

/** Parses an id; undefined if it is not ours. */
export function parseTaskId(text: string): TaskRef | undefined {
  const [, session, seq, invocation] = FORM.exec(text) ?? [];
  if (session === undefined || seq === undefined || invocation === undefined) return undefined;
  return { session, seq: Number(seq), invocation };
}
