import type { Clock } from "../common/index.ts";
import {
  CHAIN_START,
  type ChainHasher,
  checkpointHash,
  foldRoot,
  logPages,
  type ReadLine,
  sealedBefore,
} from "../journal/index.ts";
import type { CheckpointRecord, Ledger } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

/** The newest checkpoint that this process knows of: every line of the log that it writes names it. */
export interface KnownSeal {
  k: number;
}

/** What auditing needs of the engine. */
export interface AuditParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly hasher: ChainHasher;
  readonly knownSeal: KnownSeal;
  /** Is the chain keyed with a secret? */
  readonly keyed: boolean;
  /** Rejects if the ledger was begun with another secret. */
  readonly ready: () => Promise<void> | undefined;
  /** Has this process seen, in the last minutes, that the ledger's server was replaced? */
  readonly wasReplaced: () => Promise<boolean>;
}

export function toAuditParts(parts: EngineParts): AuditParts {
  const { ledger, clock, hasher, knownSeal, ready, lease, secret } = parts;
  const wasReplaced = (): Promise<boolean> => lease.wasReplaced();
  return { ledger, clock, hasher, knownSeal, ready, wasReplaced, keyed: secret !== undefined };
}

const NOTHING_SEALED = { k: 0, root: "", lastSeq: 0, count: 0, hash: CHAIN_START } as const;

/** Seals everything in the journal that no checkpoint covers yet. Resolves to the newest checkpoint. */
export async function seal(parts: AuditParts): Promise<CheckpointRecord | undefined> {
  // A process that has nothing to claim would not notice otherwise, and others wait for what it knows.
  await parts.wasReplaced();
  const newest = await sealWhatIsNew(parts);
  // Lower than before, where the database lost some.
  parts.knownSeal.k = newest?.k ?? 0;
  return newest;
}

async function sealWhatIsNew(parts: AuditParts): Promise<CheckpointRecord | undefined> {
  const { ledger, clock, hasher, ready } = parts;
  const last = await ledger.journal.lastCheckpoint();
  const from = last ?? NOTHING_SEALED;
  const fold = { root: from.root, lastSeq: from.lastSeq, count: from.count };
  const rows: ReadLine[] = [];
  let named = 0;
  for await (const page of logPages(ledger, fold.lastSeq)) {
    for (const row of page) {
      fold.root = foldRoot(hasher, fold.root, row);
      named = Math.max(named, sealedBefore(row.hash) ?? 0);
    }
    const { seq, hash } = page.at(-1) ?? page[0];
    rows.push({ seq, hash });
    fold.lastSeq = seq;
    fold.count += page.length;
  }
  if (fold.lastSeq === from.lastSeq) return last;
  // A checkpoint under another secret would make the whole journal look forged, for ever.
  await ready();
  const unhashed = { k: from.k + 1, ...fold, at: clock.now() };
  // Those that wrote the lines knew a checkpoint that is gone. Without a failover that must stay a fault.
  const lost = named > from.k && (await parts.wasReplaced()) ? named : 0;
  const checkpoint = { ...unhashed, hash: checkpointHash(hasher, from.hash, unhashed, lost) };
  const upon = { rows, ...(last === undefined ? {} : { previous: last.hash }) };
  return (await ledger.journal.seal(checkpoint, upon)) ? checkpoint : ledger.journal.lastCheckpoint();
}

/** A head to keep elsewhere: with it, `verify` also finds that the end of the journal was cut off. */
export function headText(checkpoint: Pick<CheckpointRecord, "k" | "hash"> | undefined): string {
  return checkpoint === undefined ? EMPTY : `${checkpoint.k}:${checkpoint.hash}`;
}

const HEAD = /^([1-9]\d{0,14}):((?:[1-9]\d{0,14}\.)?[\w-]{43})$/;
const EMPTY = "0:empty";

/** The checkpoint that a head names, 0 for an empty journal; undefined where it is no head. */
export function parseHead(head: string): Pick<CheckpointRecord, "k" | "hash"> | undefined {
  if (head === EMPTY) return { k: 0, hash: "" };
  const [, k, hash] = HEAD.exec(head) ?? [];
  return k === undefined || hash === undefined ? undefined : { k: Number(k), hash };
}

/** Does the journal have exactly this checkpoint? Of number 0 it has nothing to show. */
export async function hasCheckpoint(
  { journal }: Pick<Ledger, "journal">,
  { k, hash, count }: Pick<CheckpointRecord, "k" | "hash"> & { readonly count?: number },
): Promise<boolean> {
  if (k === 0) return true;
  const [found] = await journal.checkpoints(k - 1, 1);
  return found?.k === k && found.hash === hash && (count === undefined || found.count === count);
}
