import {
  CHAIN_START,
  checkpointHash,
  foldRoot,
  logRows,
  lostBefore,
  sealedBefore,
} from "../journal/index.ts";
import type { CheckpointRecord, Ledger, LogRow } from "../ledger/index.ts";
import { type AuditParts, hasCheckpoint, parseHead } from "./checkpoints.ts";
import { LeftWalk, type PrunedJournal, type PrunedSummary, readPruned, summaryOf } from "./pruned.ts";
import { type ChainCount, verifyChain } from "./verify-chain.ts";
import { type Loss, verifyLimits } from "./verify-limits.ts";

const PAGE = 500;

/** One thing that does not fit. */
export interface Fault {
  readonly where: string;
  readonly what: string;
}

export type Report = (where: string, what: string) => void;

/** What a check of the journal found. */
export interface Verification {
  readonly ok: boolean;
  readonly records: number;
  /** How many of them were erased with their sessions, as a later record of the session says. */
  readonly erased: number;
  /** How many of them no checkpoint covers yet. */
  readonly unsealed: number;
  readonly streams: number;
  readonly checkpoints: number;
  /** What was removed from the journal because of its age; absent where nothing was. */
  readonly pruned?: PrunedSummary;
  readonly faults: readonly Fault[];
  /** What this check cannot detect, as sentences. */
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
const MOST_TRIES = 3;

/**
 * Checks every checkpoint and every chain, page by page: memory does not grow with the journal. Finds any commit that
 * was altered, emptied, reordered or removed under a checkpoint, and any missing checkpoint that a later commit names;
 * and says what it cannot find.
 */
export async function verify(parts: AuditParts, options: VerifyOptions = {}): Promise<Verification> {
  // Under another secret every record would look forged.
  await parts.ready();
  for (let tries = 1; ; tries += 1) {
    const pruned = await readPruned(parts.ledger);
    const found = await verifyOnce(parts, options, pruned);
    // What is pruned meanwhile is missing in one part of the check and not in another.
    if (found.ok || (await readPruned(parts.ledger))?.n === pruned?.n) return found;
    if (tries === MOST_TRIES)
      return { ...found, faults: [{ where: "journal", what: PRUNED_MEANWHILE }, ...found.faults] };
  }
}

const PRUNED_MEANWHILE =
  "it was being pruned during this check, so the other faults may not be real: check again when retention has ended";

async function verifyOnce(
  parts: AuditParts,
  options: VerifyOptions,
  pruned: PrunedJournal | undefined,
): Promise<Verification> {
  const faults: Fault[] = [];
  const report: Report = (where, what) => {
    if (faults.length < MAX_FAULTS) faults.push({ where, what });
  };
  const journal = await verifyJournal(parts, pruned, report);
  const { inJournal, ...chains } = await verifyChains(parts, journal.lastSeq, report, options.onRecords);
  // With its session gone, nobody has looked at a record's place in its chain, or at its body.
  const strays = journal.count - inJournal;
  if (strays !== 0) report("journal", `${strays} commits belong to no session`);
  if (options.head !== undefined) await verifyHead(parts.ledger, options.head, report);
  const { checkpoints, unsealed, losses, boundary } = journal;
  const { keyed } = parts;
  const summary = pruned && summaryOf(pruned, boundary?.count ?? 0);
  return {
    ok: faults.length === 0,
    ...chains,
    unsealed,
    checkpoints,
    ...(summary === undefined ? {} : { pruned: summary }),
    faults,
    cannotDetect: verifyLimits({
      keyed,
      unsealed,
      losses,
      hasHead: options.head !== undefined,
      pruned: summary,
    }),
  };
}

interface JournalCount {
  readonly count: number;
  readonly unsealed: number;
  readonly lastSeq: number;
  readonly checkpoints: number;
  readonly losses: readonly Loss[];
  /** The checkpoint up to which lines were removed. */
  readonly boundary: CheckpointRecord | undefined;
}

/** The whole log in the order of commits, against the checkpoints that cover it, and what is left of what they covered. */
async function verifyJournal(
  parts: AuditParts,
  pruned: PrunedJournal | undefined,
  report: Report,
): Promise<JournalCount> {
  const { ledger } = parts;
  // What is sealed meanwhile may cover what has not been read.
  const newest = await ledger.journal.lastCheckpoint();
  const seals = new SealWalk(parts, report, { newest, pruned });
  const left = new LeftWalk(parts.hasher, pruned);
  await seals.begin();
  let count = 0;
  let lastSeq = 0;
  for await (const row of logRows(ledger, 0)) {
    const first = Math.max(lastSeq, left.upTo) + 1;
    if (row.seq <= left.upTo) left.take(row);
    else {
      if (ledger.journal.gapless && row.seq !== first) report("journal", gap(first, row.seq));
      await seals.take(row);
    }
    count += 1;
    lastSeq = row.seq;
  }
  left.finish(report);
  const unsealed = await seals.end();
  const { met, losses, boundary } = seals;
  return { count, unsealed, lastSeq, checkpoints: met, losses, boundary };
}

function gap(first: number, next: number): string {
  const last = next - 1;
  return first === last ? `commit ${first} is missing` : `commits ${first} to ${last} are missing`;
}

/** Goes along the checkpoints while the lines below them go by. */
class SealWalk {
  readonly #parts: AuditParts;
  readonly #report: Report;
  readonly #newest: CheckpointRecord | undefined;
  readonly #pruned: PrunedJournal["body"] | undefined;
  readonly #checkpoints: AsyncGenerator<CheckpointRecord, undefined>;
  #next: CheckpointRecord | undefined;
  /** The last one whose lines have all gone by. */
  #passed = 0;
  #previous = CHAIN_START;
  #root = "";
  #count = 0;
  /** Records since the last one that was passed. */
  #since = 0;
  /** The highest number that a line names which is newer than all checkpoints. */
  #named = 0;
  /** Up to which number the next checkpoint says that others were lost. */
  #excused = 0;
  met = 0;
  readonly losses: Loss[] = [];
  boundary: CheckpointRecord | undefined;

  constructor(
    parts: AuditParts,
    report: Report,
    {
      newest,
      pruned,
    }: { readonly newest: CheckpointRecord | undefined; readonly pruned: PrunedJournal | undefined },
  ) {
    this.#parts = parts;
    this.#report = report;
    this.#newest = newest;
    this.#pruned = pruned?.body;
    this.#checkpoints = checkpointsUpTo(parts.ledger, newest?.k ?? 0);
  }

  begin(): Promise<void> {
    return this.#advance();
  }

  async take(row: LogRow): Promise<void> {
    while (this.#next !== undefined && row.seq > this.#next.lastSeq) await this.#pass(this.#next);
    this.#checkNamed(row);
    this.#root = foldRoot(this.#parts.hasher, this.#root, row);
    this.#count += 1;
    this.#since += row.kinds.length;
  }

  /** Resolves to how many records no checkpoint covers. */
  async end(): Promise<number> {
    while (this.#next !== undefined) await this.#pass(this.#next);
    if (this.#pruned !== undefined && this.boundary === undefined)
      this.#report(`checkpoint ${this.#pruned.checkpoint.k}`, NO_BOUNDARY);
    const latest = (await this.#parts.ledger.journal.lastCheckpoint())?.k ?? 0;
    if (this.#named > latest) this.#report(`checkpoint ${this.#named}`, GONE);
    return this.#since;
  }

  /** Each commit names the newest checkpoint that its writer knew: that one must be there, and come before it. */
  #checkNamed({ session, n, hash }: LogRow): void {
    const named = sealedBefore(hash) ?? 0;
    if (named <= this.#passed || named <= this.#excused) return;
    if (this.#next === undefined && this.#passed === (this.#newest?.k ?? 0)) {
      this.#named = Math.max(this.#named, named);
    } else {
      this.#report(
        `session ${session}, commit ${n}`,
        `it was written after checkpoint ${named}, and ${GONE}`,
      );
    }
  }

  async #pass(checkpoint: CheckpointRecord): Promise<void> {
    const { k, lastSeq, count, root } = checkpoint;
    if (k <= (this.#pruned?.checkpoint.k ?? 0)) this.#passPruned(checkpoint);
    if (this.#root !== root || this.#count !== count) {
      const what = `it covers ${count} commits up to ${lastSeq}, but the journal has different ones`;
      this.#report(`checkpoint ${k}`, what);
      // Go on from what was sealed, so that one fault is not reported for every later checkpoint.
      this.#root = root;
      this.#count = count;
    }
    this.#since = 0;
    this.#passed = k;
    await this.#advance();
  }

  /** Its lines are not all there. What is left of them is checked by itself; the chain of checkpoints goes on from it. */
  #passPruned(checkpoint: CheckpointRecord): void {
    const { k, hash, lastSeq, root, count } = checkpoint;
    this.#root = root;
    this.#count = count;
    if (
      k === this.#pruned?.checkpoint.k &&
      hash === this.#pruned.checkpoint.hash &&
      lastSeq === this.#pruned.upTo
    )
      this.boundary = checkpoint;
  }

  async #advance(): Promise<void> {
    const step: IteratorResult<CheckpointRecord, undefined> = await this.#checkpoints.next();
    this.#next = step.value;
    this.#excused = 0;
    if (this.#next === undefined) return;
    const { k, hash } = this.#next;
    const lost = lostBefore(hash);
    const where = `checkpoint ${k}`;
    if (k !== this.#passed + 1) this.#report(where, `checkpoint ${this.#passed + 1} is missing`);
    const follows = checkpointHash(this.#parts.hasher, this.#previous, this.#next, lost) === hash;
    if (!follows) this.#report(where, "its hash does not match the checkpoint before it");
    this.#excused = follows ? lost : 0;
    if (this.#excused > 0) this.losses.push({ k, upTo: lost });
    this.#previous = hash;
    this.met = k;
  }
}

const NO_BOUNDARY = "the journal was pruned up to it, but it is missing or different";
const GONE = "that checkpoint is missing, or covers later commits";

async function* checkpointsUpTo(ledger: Ledger, newest: number): AsyncGenerator<CheckpointRecord, undefined> {
  for (let after = 0; ; ) {
    const page = await ledger.journal.checkpoints(after, PAGE);
    for (const checkpoint of page) {
      if (checkpoint.k > newest) return undefined;
      yield checkpoint;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return undefined;
    after = last.k;
  }
}

interface ChainsCount extends ChainCount {
  readonly streams: number;
}

/** Every session's chain. `inJournal` counts the commits up to `lastSeq`. */
async function verifyChains(
  parts: AuditParts,
  lastSeq: number,
  report: Report,
  onRecords?: (count: number) => void,
): Promise<ChainsCount> {
  const total = { records: 0, erased: 0, inJournal: 0, streams: 0 };
  for (let after = ""; ; ) {
    const page = await parts.ledger.journal.streams(after, PAGE);
    for (const stream of page) {
      const verified = await verifyChain(parts, { ...stream, lastSeq }, report);
      total.records += verified.records;
      total.erased += verified.erased;
      total.inJournal += verified.inJournal;
      total.streams += 1;
      onRecords?.(total.records);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return total;
    after = last.key;
  }
}

async function verifyHead(ledger: Ledger, head: string, report: Report): Promise<void> {
  const named = parseHead(head);
  if (named === undefined) report(`head ${head}`, "it is not a head that `countersign audit head` printed");
  else if (!(await hasCheckpoint(ledger, named))) {
    report(
      `head ${head}`,
      "the journal does not contain it: it was copied wrongly, or the journal was truncated or rewritten",
    );
  }
}
