import { bodyDigest } from "../common/index.ts";
import { CHAIN_START, eventsOf, parseEntry, recordsOf, rowHash, sealedBefore } from "../journal/index.ts";
import type { ChainHead, LogRow } from "../ledger/index.ts";
import type { AuditParts } from "./checkpoints.ts";
import type { Report } from "./verify.ts";

const PAGE = 500;
const MOST_BYTES = 4_000_000;
const MOST_MISSING = 100;

export interface ChainCount {
  readonly records: number;
  /** How many have no body any more, as a later record of the chain says. */
  readonly erased: number;
  /** How many commits are not newer than the last one that was read of the whole log. */
  readonly inJournal: number;
}

interface Stream {
  readonly key: string;
  /** As the session's document says. */
  readonly chain: ChainHead;
  readonly lastSeq: number;
}

type Previous = Pick<LogRow, "n" | "hash" | "seq" | "events">;

/** One session's log: each line follows from the one before it, and has its body unless a later one says that it was erased. */
export async function verifyChain(parts: AuditParts, stream: Stream, report: Report): Promise<ChainCount> {
  const { key, chain, lastSeq } = stream;
  const bodies = new Bodies();
  let last: Previous = { n: 0, hash: CHAIN_START, seq: 0, events: 0 };
  let records = 0;
  let inJournal = 0;
  let metHead = chain.n === 0;
  for (let isPast = false; ; isPast = last.n >= chain.n) {
    const page = await parts.ledger.journal.sessionRows(key, {
      after: last.n,
      limit: PAGE,
      bytes: MOST_BYTES,
    });
    for (const row of page) {
      bodies.take(row, verifyRow(parts, { row, previous: last }, report));
      last = row;
      records += row.kinds.length;
      if (row.n === chain.n) metHead = row.hash === chain.hash;
      if (row.seq <= lastSeq) inJournal += 1;
    }
    // A page is short where lines are long. One more than there should be: others may go on writing for ever.
    if (page.length === 0 || isPast) break;
  }
  for (const n of bodies.unaccounted()) {
    const what = "its body is missing, and no later record says that the session was erased";
    report(`session ${key}, commit ${n}`, what);
  }
  // It may have grown since its end was read; then that of now must not lie behind what was found.
  const head = last.n > chain.n ? await headNow(parts, key) : chain.n;
  if (!metHead || last.n > head)
    report(`session ${key}`, `its chain ends at commit ${last.n}, but the session says ${head}`);
  return { records, erased: bodies.erased, inJournal };
}

async function headNow({ ledger }: AuditParts, key: string): Promise<number> {
  return (await ledger.load({ sessionKey: key }))?.session.chain.n ?? 0;
}

/** Is it as it was written? What is not is reported. */
function verifyRow(
  { ledger, hasher }: AuditParts,
  { row, previous }: { readonly row: LogRow; readonly previous: Previous },
  report: Report,
): boolean {
  const where = `session ${row.session}, commit ${row.n}`;
  if (row.n !== previous.n + 1) report(where, `commit ${previous.n + 1} is missing`);
  if (row.seq <= previous.seq) report(where, "it is stored before the commit that it follows");
  const sealed = sealedBefore(row.hash);
  const fits = sealed !== undefined && rowHash(hasher, previous.hash, row, sealed) === row.hash;
  if (!fits) report(where, "its hash does not match the commit before it");
  const isWhole = row.body === null || bodyDigest(ledger.digestKey, row.body) === row.digest;
  if (!isWhole) report(where, "its body was changed");
  // The count is not hashed, and events are found by it.
  if (row.body !== null && row.events !== previous.events + eventsOf(row).length)
    report(where, "its count of events was changed");
  return fits && isWhole;
}

/** Which lines of a chain have no body, and which of those were erased. Holds no more than some of the last. */
class Bodies {
  #missing = 0;
  #erasedTo = 0;
  readonly #last: { readonly n: number; readonly records: number }[] = [];

  take(row: LogRow, isSound: boolean): void {
    if (row.body === null) {
      this.#missing += row.kinds.length;
      this.#last.push({ n: row.n, records: row.kinds.length });
      // What was erased comes first; so if any are not accounted for, the last are.
      if (this.#last.length > MOST_MISSING) this.#last.shift();
    } else if (isSound) {
      this.#erasedTo = Math.max(this.#erasedTo, erasedTo(row));
    }
  }

  unaccounted(): readonly number[] {
    return this.#unaccounted().map(({ n }) => n);
  }

  get erased(): number {
    return this.#unaccounted().reduce((left, { records }) => left - records, this.#missing);
  }

  #unaccounted(): readonly { readonly n: number; readonly records: number }[] {
    return this.#last.filter(({ n }) => n > this.#erasedTo);
  }
}

/** Up to which line of its session the content was erased, by what this one says; 0 for any other line. */
function erasedTo(row: LogRow): number {
  return Math.max(
    0,
    ...recordsOf(row).map((record) => {
      const entry = parseEntry(record);
      // What cannot be read accounts for nothing: bodies that are missing before it are reported.
      if (entry.state !== "readable") return 0;
      if (entry.kind !== "session-deleted" && entry.kind !== "session-pruned") return 0;
      const { erased } = entry.body;
      return erased < row.n ? erased : 0;
    }),
  );
}
