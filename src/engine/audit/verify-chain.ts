import { bodyDigest } from "../common/index.ts";
import { CHAIN_START, parseEntry, recordHash, sealedBefore } from "../journal/index.ts";
import type { ChainHead, JournalRecord } from "../ledger/index.ts";
import type { AuditParts } from "./checkpoints.ts";
import type { Report } from "./verify.ts";

const PAGE = 500;
const MOST_MISSING = 100;

export interface ChainCount {
  readonly records: number;
  /** How many have no body any more, as a later record of the chain says. */
  readonly erased: number;
  /** How many are not newer than the last record that was read of the whole journal. */
  readonly inJournal: number;
}

interface Stream {
  readonly key: string;
  /** As the session's row says. */
  readonly chain: ChainHead;
  readonly lastSeq: number;
}

/** One session's records: each follows from the one before it, and has its body unless a later one says that it was erased. */
export async function verifyChain(parts: AuditParts, stream: Stream, report: Report): Promise<ChainCount> {
  const { key, chain, lastSeq } = stream;
  const bodies = new Bodies();
  let last: Pick<JournalRecord, "n" | "hash" | "seq"> = { n: 0, hash: CHAIN_START, seq: 0 };
  let records = 0;
  let inJournal = 0;
  let metHead = chain.n === 0;
  for (;;) {
    const page = await parts.ledger.chain(key, { after: last.n, limit: PAGE });
    for (const record of page) {
      bodies.take(record, verifyRecord(parts, { record, previous: last }, report));
      last = record;
      records += 1;
      if (record.n === chain.n) metHead = record.hash === chain.hash;
      if (record.seq <= lastSeq) inJournal += 1;
    }
    if (page.length < PAGE) break;
  }
  for (const n of bodies.unaccounted()) {
    const what = "its body is missing, and no later record says that the session was erased";
    report(`session ${key}, record ${n}`, what);
  }
  // It may have grown since its head was read; then that of now must not lie behind what was found.
  const head = last.n > chain.n ? await headNow(parts, key) : chain.n;
  if (!metHead || last.n > head)
    report(`session ${key}`, `its chain ends at record ${last.n}, but the session says ${head}`);
  return { records, erased: bodies.erased, inJournal };
}

async function headNow({ ledger }: AuditParts, key: string): Promise<number> {
  return (await ledger.load({ sessionKey: key }))?.session.chain.n ?? 0;
}

/** Is it as it was written? What is not is reported. */
function verifyRecord(
  { ledger, hasher }: AuditParts,
  {
    record,
    previous,
  }: { readonly record: JournalRecord; readonly previous: Pick<JournalRecord, "n" | "hash" | "seq"> },
  report: Report,
): boolean {
  const where = `session ${record.stream}, record ${record.n}`;
  if (record.n !== previous.n + 1) report(where, `record ${previous.n + 1} is missing`);
  if (record.seq <= previous.seq) report(where, "it is stored before the record that it follows");
  const sealed = sealedBefore(record.hash);
  const fits = sealed !== undefined && recordHash(hasher, previous.hash, record, sealed) === record.hash;
  if (!fits) report(where, "its hash does not match the record before it");
  const isWhole = record.body === null || bodyDigest(ledger.digestKey, record.body) === record.bodyDigest;
  if (!isWhole) report(where, "its body was changed");
  return fits && isWhole;
}

/** Which records of a chain have no body, and which of those were erased. Holds no more than some of the last. */
class Bodies {
  #missing = 0;
  #erasedTo = 0;
  readonly #last: number[] = [];

  take(record: JournalRecord, isSound: boolean): void {
    if (record.body === null) {
      this.#missing += 1;
      this.#last.push(record.n);
      // What was erased comes first; so if any are not accounted for, the last are.
      if (this.#last.length > MOST_MISSING) this.#last.shift();
    } else if (isSound) {
      this.#erasedTo = Math.max(this.#erasedTo, erasedTo(record));
    }
  }

  unaccounted(): readonly number[] {
    return this.#last.filter((n) => n > this.#erasedTo);
  }

  get erased(): number {
    return this.#missing - this.unaccounted().length;
  }
}

/** Up to which record the content was erased, by what this one says; 0 for any other record. */
function erasedTo(record: JournalRecord): number {
  const entry = parseEntry(record);
  // What cannot be read accounts for nothing: bodies that are missing before it are reported.
  if (entry.state !== "readable") return 0;
  if (entry.kind !== "session-deleted" && entry.kind !== "session-pruned") return 0;
  const { erased } = entry.body;
  return erased < record.n ? erased : 0;
}
