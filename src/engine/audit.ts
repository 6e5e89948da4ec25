import { CHAIN_START, type ChainHasher, checkpointHash, foldRoot, recordHash } from "./chain.ts";
import type { Clock } from "./clock.ts";
import { bodyDigest } from "./digest.ts";
import type { Ledger } from "./ledger.ts";
import type { ChainHead, CheckpointRecord, JournalRecord } from "./records.ts";

const PAGE = 500;

/** What auditing needs of the engine. */
export interface AuditParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly hasher: ChainHasher;
  /** Is the chain keyed with a secret? */
  readonly keyed: boolean;
  /** Rejects if the ledger was begun with another secret. */
  readonly ready: () => Promise<void> | undefined;
}

const NOTHING_SEALED = { k: 0, root: "", lastSeq: 0, count: 0, hash: CHAIN_START } as const;

/** Seals everything in the journal that no checkpoint covers yet. Resolves to the newest checkpoint. */
export async function seal({
  ledger,
  clock,
  hasher,
  ready,
}: AuditParts): Promise<CheckpointRecord | undefined> {
  const last = await ledger.lastCheckpoint();
  const from = last ?? NOTHING_SEALED;
  const fold = { root: from.root, lastSeq: from.lastSeq, count: from.count };
  for await (const record of journalRecords(ledger, fold.lastSeq)) {
    fold.root = foldRoot(hasher, fold.root, record);
    fold.lastSeq = record.seq;
    fold.count += 1;
  }
  if (fold.lastSeq === from.lastSeq) return last;
  // A checkpoint under another secret would make the whole journal look forged, for ever.
  await ready();
  const unhashed = { k: from.k + 1, ...fold, at: clock.now() };
  const checkpoint = { ...unhashed, hash: checkpointHash(hasher, from.hash, unhashed) };
  return (await ledger.seal(checkpoint)) ? checkpoint : ledger.lastCheckpoint();
}

/** A head to keep elsewhere: with it, `verify` also finds that the end of the journal was cut off. */
export function headText(checkpoint: CheckpointRecord | undefined): string {
  return checkpoint === undefined ? "0:empty" : `${checkpoint.k}:${checkpoint.hash}`;
}

/** One thing that does not fit. */
export interface Fault {
  readonly where: string;
  readonly what: string;
}

export interface Verification {
  readonly ok: boolean;
  readonly records: number;
  readonly streams: number;
  readonly checkpoints: number;
  readonly faults: readonly Fault[];
  /** What this check could not have found, in sentences. */
  readonly cannotDetect: readonly string[];
}

/** How to verify. */
export interface VerifyOptions {
  /** A head that was kept elsewhere; the journal must still contain it. */
  readonly head?: string;
  /** Told now and then how many records were checked. */
  readonly onRecords?: (count: number) => void;
}

const MAX_FAULTS = 100;

/**
 * Checks every chain and every checkpoint, page by page: memory does not grow with the journal. Finds any
 * record that was altered, reordered or removed under a checkpoint, and says what it cannot find.
 */
export async function verify(parts: AuditParts, options: VerifyOptions = {}): Promise<Verification> {
  // Under another secret every record would look forged.
  await parts.ready();
  const faults: Fault[] = [];
  const report = (where: string, what: string): void => {
    if (faults.length < MAX_FAULTS) faults.push({ where, what });
  };
  const newest = await parts.ledger.lastCheckpoint();
  const { sealed, ...chains } = await verifyChains(parts, newest?.lastSeq ?? 0, report, options.onRecords);
  const checkpoints = await verifyCheckpoints(parts, report);
  // With its session gone, nobody has looked at a record's body.
  const strays = (newest?.count ?? 0) - sealed;
  if (faults.length === 0 && strays !== 0)
    report("journal", `${strays} of its sealed records belong to no session`);
  if (options.head !== undefined) await verifyHead(parts.ledger, options.head, report);
  return {
    ok: faults.length === 0,
    ...chains,
    checkpoints,
    faults,
    cannotDetect: limits(parts, options.head),
  };
}

type Report = (where: string, what: string) => void;

/** How many records and streams there are, and how many of the records a checkpoint covers. */
async function verifyChains(
  parts: AuditParts,
  lastSealed: number,
  report: Report,
  onRecords?: (count: number) => void,
): Promise<{ readonly records: number; readonly streams: number; readonly sealed: number }> {
  let records = 0;
  let streams = 0;
  let sealed = 0;
  for (let after = ""; ; ) {
    const page = await parts.ledger.streams(after, PAGE);
    for (const { key, chain } of page) {
      streams += 1;
      const verified = await verifyChain(parts, { key, chain, lastSealed }, report);
      records += verified.records;
      sealed += verified.sealed;
      onRecords?.(records);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return { records, streams, sealed };
    after = last.key;
  }
}

async function verifyChain(
  parts: AuditParts,
  stream: { readonly key: string; readonly chain: ChainHead; readonly lastSealed: number },
  report: Report,
): Promise<{ readonly records: number; readonly sealed: number }> {
  const { key, chain, lastSealed } = stream;
  let previous: ChainHead = { n: 0, hash: CHAIN_START };
  let sealed = 0;
  let metHead = chain.n === 0;
  for (;;) {
    const page = await parts.ledger.chain(key, { after: previous.n, limit: PAGE });
    for (const record of page) {
      verifyRecord(parts, { record, previous }, report);
      previous = { n: record.n, hash: record.hash };
      if (record.n === chain.n) metHead = record.hash === chain.hash;
      if (record.seq <= lastSealed) sealed += 1;
    }
    if (page.length < PAGE) break;
  }
  // It may have grown since its head was read; then that of now must not lie behind what was found.
  const head = previous.n > chain.n ? await headNow(parts, key) : chain.n;
  if (!metHead || previous.n > head)
    report(`session ${key}`, `its chain ends at record ${previous.n}, the session says ${head}`);
  return { records: previous.n, sealed };
}

async function headNow({ ledger }: AuditParts, key: string): Promise<number> {
  return (await ledger.load({ sessionKey: key }))?.session.chain.n ?? 0;
}

function verifyRecord(
  { ledger, hasher }: AuditParts,
  { record, previous }: { readonly record: JournalRecord; readonly previous: ChainHead },
  report: Report,
): void {
  const where = `session ${record.stream}, record ${record.n}`;
  if (record.n !== previous.n + 1) report(where, `record ${previous.n + 1} is missing`);
  if (recordHash(hasher, previous.hash, record) !== record.hash)
    report(where, "its hash does not follow from the record before it");
  if (record.body !== null && bodyDigest(ledger.digestKey, record.body) !== record.bodyDigest)
    report(where, "its body was altered");
}

async function verifyCheckpoints({ ledger, hasher }: AuditParts, report: Report): Promise<number> {
  const sealed = journalRecords(ledger, 0);
  const fold = { root: "", count: 0 };
  let previous = CHAIN_START;
  let expected = 1;
  for (let after = 0; ; ) {
    const page = await ledger.checkpoints(after, PAGE);
    for (const checkpoint of page) {
      const where = `checkpoint ${checkpoint.k}`;
      if (checkpoint.k !== expected) report(where, `checkpoint ${expected} is missing`);
      if (checkpointHash(hasher, previous, checkpoint) !== checkpoint.hash)
        report(where, "its hash does not follow from the one before it");
      await foldUntil(sealed, hasher, { fold, until: checkpoint });
      if (fold.root !== checkpoint.root || fold.count !== checkpoint.count) {
        report(
          where,
          `it covers ${checkpoint.count} records up to ${checkpoint.lastSeq}, which are not those of the journal`,
        );
        // Go on from what was sealed, so that one fault is not reported for every later checkpoint.
        fold.root = checkpoint.root;
        fold.count = checkpoint.count;
      }
      previous = checkpoint.hash;
      expected = checkpoint.k + 1;
      after = checkpoint.k;
    }
    if (page.length < PAGE) {
      await sealed.return(undefined);
      return expected - 1;
    }
  }
}

async function foldUntil(
  sealed: AsyncGenerator<JournalRecord>,
  hasher: ChainHasher,
  { fold, until }: { readonly fold: { root: string; count: number }; readonly until: CheckpointRecord },
): Promise<void> {
  while (fold.count < until.count) {
    const next = await sealed.next();
    if (next.done === true) return;
    fold.root = foldRoot(hasher, fold.root, next.value);
    fold.count += 1;
    if (next.value.seq >= until.lastSeq) return;
  }
}

async function verifyHead(ledger: Ledger, head: string, report: Report): Promise<void> {
  const [k = "", hash = ""] = head.split(":", 2);
  const number = Number(k);
  if (!Number.isInteger(number) || number < 0 || hash === "") {
    report(`head ${head}`, "it is not a head as `countersign audit head` prints it");
    return;
  }
  if (number === 0) return;
  const [checkpoint] = await ledger.checkpoints(number - 1, 1);
  if (checkpoint?.k !== number || checkpoint.hash !== hash) {
    report(`head ${head}`, "the journal does not contain it: its end was cut off, or it was rewritten");
  }
}

function limits({ keyed }: AuditParts, head: string | undefined): readonly string[] {
  return [
    ...(keyed
      ? []
      : [
          "Without COUNTERSIGN_SECRET the chain is not keyed: someone who can write to the database can rewrite all of it consistently. This check finds accidents and partial edits.",
        ]),
    ...(head === undefined
      ? ["Without --head the loss of the newest records, together with their checkpoints, is not noticed."]
      : []),
    "Records newer than the last checkpoint are protected only by their own session's chain.",
  ];
}

async function* journalRecords(ledger: Ledger, after: number): AsyncGenerator<JournalRecord> {
  for (let last = after; ; ) {
    const page = await ledger.journal({ after: last, limit: PAGE });
    yield* page;
    const newest = page.at(-1);
    if (newest === undefined || page.length < PAGE) return;
    last = newest.seq;
  }
}
