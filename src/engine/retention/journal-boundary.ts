import { CountersignError } from "../../protocol/index.ts";
import { ChainWalk, diaryRows, type PrunedJournal, prunedBy } from "../audit/index.ts";
import { bodyDigest } from "../common/index.ts";
import {
  CHAIN_START,
  checkpointHash,
  foldRoot,
  LineSum,
  logRows,
  lostBefore,
  sealedBefore,
} from "../journal/index.ts";
import type { CheckpointRecord, LogRow } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

const MOST_AT_ONCE = 20_000;

/** Up to which checkpoint lines were removed, and the sum over those that are left up to there. */
export interface Boundary {
  readonly checkpoint: Pick<CheckpointRecord, "k" | "hash" | "lastSeq" | "root" | "count">;
  readonly left: LineSum;
}

/** What the diary says; its chain was checked. */
export interface DiaryState {
  readonly pruned: PrunedJournal | undefined;
  /** Was the journal ever archived? */
  readonly isArchived: boolean;
}

/** Reads the diary, and throws if its chain is not sound: what is written next would rest on it. */
export async function readDiary({ ledger, hasher }: EngineParts): Promise<DiaryState> {
  const faults: string[] = [];
  const check = { hasher, digestOf: (body: string): string => bodyDigest(ledger.digestKey, body) };
  let walk: ChainWalk | undefined;
  let pruned: PrunedJournal | undefined;
  let isArchived = false;
  for await (const row of diaryRows(ledger)) {
    walk ??= new ChainWalk(check, row.session, (where, what) => faults.push(`${where}: ${what}`));
    walk.take(row);
    pruned = prunedBy(row, pruned);
    isArchived ||= row.kinds.includes("journal-archived");
  }
  walk?.finish();
  const [fault] = faults;
  if (fault !== undefined) throw notSound(fault);
  return { pruned, isArchived };
}

/** Where pruning stands. Throws if the checkpoint that the diary names is not there. */
export async function boundaryOf(
  { ledger, hasher }: EngineParts,
  pruned: PrunedJournal | undefined,
): Promise<Boundary> {
  if (pruned === undefined) {
    const checkpoint = { k: 0, hash: CHAIN_START, lastSeq: 0, root: "", count: 0 };
    return { checkpoint, left: new LineSum(hasher) };
  }
  const { checkpoint, upTo, left } = pruned.body;
  const [found] = await ledger.journal.checkpoints(checkpoint.k - 1, 1);
  if (found?.k !== checkpoint.k || found.hash !== checkpoint.hash || found.lastSeq !== upTo)
    throw notSound(`checkpoint ${checkpoint.k} is missing or different`);
  return { checkpoint: found, left: new LineSum(hasher, left) };
}

/**
 * Moves the boundary towards the newest checkpoint that was made before this time, by so many lines at most. Every line on the
 * way must be as it was sealed. Undefined where the boundary is there already.
 */
export async function advance(
  { ledger, hasher }: EngineParts,
  from: Boundary,
  before: number,
): Promise<Boundary | undefined> {
  const left = new LineSum(hasher, from.left.value);
  let { checkpoint } = from;
  let fold = { root: checkpoint.root, count: checkpoint.count };
  let target = await nextOf(ledger, checkpoint, before);
  if (target === undefined) return undefined;
  let taken = 0;
  const reach = (): void => {
    if (target === undefined) return;
    const follows = checkpointHash(hasher, checkpoint.hash, target, lostBefore(target.hash)) === target.hash;
    if (!follows || fold.root !== target.root || fold.count !== target.count)
      throw notSound(`checkpoint ${target.k} covers other commits than the journal has`);
    checkpoint = target;
  };
  for await (const row of logRows(ledger, checkpoint.lastSeq)) {
    while (target !== undefined && row.seq > target.lastSeq) {
      reach();
      target = taken >= MOST_AT_ONCE ? undefined : await nextOf(ledger, checkpoint, before);
    }
    if (target === undefined) break;
    checkNamed(row, target);
    fold = { root: foldRoot(hasher, fold.root, row), count: fold.count + 1 };
    left.add(row);
    taken += 1;
  }
  reach();
  return { checkpoint, left };
}

/** The checkpoint after this one, if it was made before this time. */
async function nextOf(
  { journal }: EngineParts["ledger"],
  { k }: Pick<CheckpointRecord, "k">,
  before: number,
): Promise<CheckpointRecord | undefined> {
  const [next] = await journal.checkpoints(k, 1);
  if (next === undefined || next.at >= before) return undefined;
  if (next.k !== k + 1) throw notSound(`checkpoint ${k + 1} is missing`);
  return next;
}

/** A line names the newest checkpoint that its writer knew. If that is gone, the line is the proof of it, and stays. */
function checkNamed({ session, n, hash }: LogRow, { k, hash: sealed }: CheckpointRecord): void {
  const named = sealedBefore(hash) ?? 0;
  if (named < k || named <= lostBefore(sealed)) return;
  throw notSound(`session ${session}, commit ${n} was written after checkpoint ${named}, which is missing`);
}

export function notSound(what: string): CountersignError {
  return new CountersignError(
    "internal",
    `The journal is not intact, so nothing of it is pruned: ${what}. Run \`countersign audit verify\`.`,
  );
}
