import type { PrunedSummary } from "./pruned.ts";

/** What a check had to go by. */
export interface CheckedWith {
  readonly keyed: boolean;
  readonly hasHead: boolean;
  readonly unsealed: number;
  readonly losses: readonly Loss[];
  readonly pruned: PrunedSummary | undefined;
}

/** A checkpoint that says that others went with a server, up to a number. */
export interface Loss {
  readonly k: number;
  readonly upTo: number;
}

/** What a check of the journal could not have found, each in a sentence or two. */
export function verifyLimits({ keyed, hasHead, unsealed, losses, pruned }: CheckedWith): readonly string[] {
  return [
    ...(keyed ? [] : [hasHead ? UNKEYED_SINCE_HEAD : UNKEYED]),
    ...(hasHead ? [] : [NO_HEAD]),
    ...(losses.length === 0 ? [] : [lossSentence(losses)]),
    ...(pruned === undefined ? [] : [prunedSentence(pruned)]),
    `Removal of the newest records of a session, if they are newer than the last checkpoint (${unsealed} records here) and the session row was changed to match. A session with only such records can be removed completely.`,
    "Changes outside the journal: the documents of sessions (current calls and confirmations), the archived copies of ended ones, index entries, tokens and logins.",
  ];
}

/** What a check of one session's chain could not have found. */
export function sessionLimits(keyed: boolean): readonly string[] {
  return [...(keyed ? [] : [UNKEYED]), ONE_SESSION];
}

function lossSentence(losses: readonly Loss[]): string {
  const [{ k, upTo } = { k: 0, upTo: 0 }] = losses.slice(-1);
  const others = losses.length === 1 ? "" : `; ${losses.length - 1} earlier checkpoints say the same`;
  return `Removals hidden by a failover. Checkpoint ${k} says that records up to number ${upTo} were lost in a failover${others}. Records removed at that time look the same.`;
}

function prunedSentence({ commits, sessions }: PrunedSummary): string {
  return `What was in the ${commits} commits of ${sessions} sessions that were pruned because of their age. The journal says who removed them, and where each session's chain ended. Archives of them, if there are any, can be checked: countersign audit verify FILES --ledger.`;
}

const ONE_SESSION =
  "Removal of the newest records of this session, if the session row was changed to match. `countersign audit verify` checks all sessions and the checkpoints over them.";
const UNKEYED =
  "A complete rewrite. Without COUNTERSIGN_SECRET the chain is not keyed: anyone who can write to the database can rewrite the whole journal consistently, or erase a session and record that as a normal erasure. This check detects accidents and partial edits.";
const UNKEYED_SINCE_HEAD =
  "A rewrite of everything newer than the head. Without COUNTERSIGN_SECRET the chain is not keyed: anyone who can write to the database can rewrite those records consistently, or erase a session and record that as a normal erasure.";
const NO_HEAD =
  "Truncation. Without --head, this check cannot detect that all records and checkpoints after some moment were removed.";
