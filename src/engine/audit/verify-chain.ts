import { bodyDigest } from "../common/index.ts";
import type { ChainHead } from "../ledger/index.ts";
import { ChainWalk } from "./chain-walk.ts";
import type { AuditParts } from "./checkpoints.ts";
import type { Report } from "./verify.ts";

const PAGE = 500;
const MOST_BYTES = 4_000_000;

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
  /** Its lines may be gone. Whether that was recorded is checked over all sessions together. */
  readonly pruned?: boolean;
  readonly lastSeq: number;
}

/** One session's log: each line follows from the one before it, and has its body unless a later one says that it was erased. */
export async function verifyChain(parts: AuditParts, stream: Stream, report: Report): Promise<ChainCount> {
  const { key, chain, pruned = false, lastSeq } = stream;
  const { ledger, hasher } = parts;
  const walk = new ChainWalk({ hasher, digestOf: (body) => bodyDigest(ledger.digestKey, body) }, key, report);
  let inJournal = 0;
  let metHead = chain.n === 0;
  for (let isPast = false; ; isPast = walk.end.n >= chain.n) {
    const range = { after: walk.end.n, limit: PAGE, bytes: MOST_BYTES };
    const page = await ledger.journal.sessionRows(key, range);
    for (const row of page) {
      walk.take(row);
      if (row.n === chain.n) metHead = row.hash === chain.hash;
      if (row.seq <= lastSeq) inJournal += 1;
    }
    // A page is short where lines are long. One more than there should be: others may go on writing for ever.
    if (page.length === 0 || isPast) break;
  }
  walk.finish();
  if (pruned && walk.end.n === 0) return { records: 0, erased: 0, inJournal };
  await checkEnd(parts, { key, chain, metHead, n: walk.end.n }, report);
  return { records: walk.records, erased: walk.erased, inJournal };
}

/** It may have grown since its end was read; then that of now must not lie behind what was found. */
async function checkEnd(
  parts: AuditParts,
  {
    key,
    chain,
    metHead,
    n,
  }: Pick<Stream, "key" | "chain"> & { readonly metHead: boolean; readonly n: number },
  report: Report,
): Promise<void> {
  const head = n > chain.n ? await headNow(parts, key) : chain.n;
  if (!metHead || n > head)
    report(`session ${key}`, `its chain ends at commit ${n}, but the session says ${head}`);
}

async function headNow({ ledger }: AuditParts, key: string): Promise<number> {
  return (await ledger.load({ sessionKey: key }))?.session.chain.n ?? 0;
}
