/** What a check had to go by. */
export interface CheckedWith {
  readonly keyed: boolean;
  readonly hasHead: boolean;
  readonly unsealed: number;
  readonly losses: readonly Loss[];
}

/** A checkpoint that says that others went with a server, up to a number. */
export interface Loss {
  readonly k: number;
  readonly upTo: number;
}

/** What a check of the journal could not have found, each in a sentence or two. */
export function verifyLimits({ keyed, hasHead, unsealed, losses }: CheckedWith): readonly string[] {
  return [
    ...(keyed ? [] : [hasHead ? UNKEYED_SINCE_HEAD : UNKEYED]),
    ...(hasHead ? [] : [NO_HEAD]),
    ...(losses.length === 0 ? [] : [lossSentence(losses)]),
    `Of the records newer than the last checkpoint (${unsealed} here), the newest of a session can be removed together with the session's note of its last record, and a session that has no older ones can be removed with them.`,
    "Only the journal is checked: not the rows of sessions, calls, confirmations, events and tokens.",
  ];
}

function lossSentence(losses: readonly Loss[]): string {
  const [{ k, upTo } = { k: 0, upTo: 0 }] = losses.slice(-1);
  const others = losses.length === 1 ? "" : `, as ${losses.length - 1} before it do`;
  return `Checkpoint ${k} says that those up to number ${upTo} went with a server that was replaced in a failover${others}: what was removed together with them, at that time, is not noticed.`;
}

const UNKEYED =
  "Without COUNTERSIGN_SECRET the chain is not keyed: someone who can write to the database can rewrite all of it consistently, or add a record that says that a session was erased and remove what it said. This check finds accidents and partial edits.";
const UNKEYED_SINCE_HEAD =
  "Without COUNTERSIGN_SECRET the chain is not keyed: someone who can write to the database can rewrite consistently whatever is newer than the head, or add a record that says that a session was erased and remove what it said.";
const NO_HEAD =
  "Without --head it is not noticed that the whole journal was set back: that all records since some moment, of all sessions, were removed together with the checkpoints since then.";
