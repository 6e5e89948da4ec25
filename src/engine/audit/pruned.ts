import { RETENTION_DIARY } from "../holds/index.ts";
import { type JournalBodies, LineSum, parseEntry, recordsOf, rowAt } from "../journal/index.ts";
import type { Ledger, LogRow } from "../ledger/index.ts";
import { headText } from "./checkpoints.ts";
import type { Report } from "./verify.ts";

const PAGE = 500;
const MOST_BYTES = 4_000_000;

/** The newest record that tells of lines that were removed, and how many sessions all of them tell of. */
export interface PrunedJournal {
  /** The commit of the diary that has it. */
  readonly n: number;
  readonly at: number;
  readonly body: JournalBodies["journal-pruned"];
  readonly sessions: number;
}

/** What was removed from the journal, as its newest record of that says. */
export interface PrunedSummary {
  /** How many commits are gone, of how many sessions. */
  readonly commits: number;
  readonly sessions: number;
  /** All of them are older than this head. */
  readonly head: string;
  /** Of the last time: when, by whom, through what, and under which rules. ISO 8601. */
  readonly at: string;
  readonly by: string;
  readonly via: string;
  readonly rules: string;
}

/** Goes along the lines of the diary of retention. */
export async function* diaryRows(ledger: Pick<Ledger, "load" | "journal">): AsyncGenerator<LogRow> {
  const diary = (await ledger.load({ session: RETENTION_DIARY }))?.session;
  if (diary === undefined) return;
  for (let after = 0; ; ) {
    const page = await ledger.journal.sessionRows(diary.key, { after, limit: PAGE, bytes: MOST_BYTES });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.n;
  }
}

/** What the diary says was removed; undefined where nothing was. The diary's own chain is checked by whoever relies on it. */
export async function readPruned(
  ledger: Pick<Ledger, "load" | "journal">,
): Promise<PrunedJournal | undefined> {
  let newest: PrunedJournal | undefined;
  for await (const row of diaryRows(ledger)) newest = prunedBy(row, newest);
  return newest;
}

/** Is the place so old that its record may have been pruned? Then what is missing there was not lost. */
export async function isPrunedPlace(ledger: Pick<Ledger, "load" | "journal">, seq: number): Promise<boolean> {
  return rowAt(seq) <= ((await readPruned(ledger))?.body.upTo ?? 0);
}

/** The newest record, once this line of the diary has gone by. */
export function prunedBy(row: LogRow, before: PrunedJournal | undefined): PrunedJournal | undefined {
  let newest = before;
  for (const record of recordsOf(row)) {
    const entry = parseEntry(record);
    if (entry.state !== "readable" || entry.kind !== "journal-pruned") continue;
    const sessions = (newest?.sessions ?? 0) + entry.body.sessions.length;
    newest = { n: row.n, at: row.at, body: entry.body, sessions };
  }
  return newest;
}

/** In sentences of numbers; `covered` is how many commits its checkpoint covers. */
export function summaryOf({ at, body, sessions }: PrunedJournal, covered: number): PrunedSummary {
  const { checkpoint, left, by, via, rules } = body;
  return {
    commits: covered - left.rows,
    sessions,
    head: headText(checkpoint),
    at: new Date(at).toISOString(),
    by: by.id,
    via,
    rules,
  };
}

/** Checks that of the lines up to a boundary exactly those are left that the newest record accounts for. */
export class LeftWalk {
  readonly #pruned: PrunedJournal | undefined;
  readonly #found: LineSum;
  /** Their lines go next: a process that dies may have said so and not done it. */
  readonly #going: ReadonlySet<string>;

  constructor(hasher: ConstructorParameters<typeof LineSum>[0], pruned: PrunedJournal | undefined) {
    this.#pruned = pruned;
    this.#found = new LineSum(hasher);
    this.#going = new Set(pruned?.body.sessions.map(({ key }) => key));
  }

  /** The last line that the record is about; 0 where nothing was removed. */
  get upTo(): number {
    return this.#pruned?.body.upTo ?? 0;
  }

  take(row: LogRow): void {
    if (!this.#going.has(row.session)) this.#found.add(row);
  }

  finish(report: Report): void {
    if (this.#pruned === undefined) return;
    const { checkpoint, upTo, left } = this.#pruned.body;
    const { rows, sum } = this.#found.value;
    if (rows === left.rows && sum === left.sum) return;
    report(
      "journal",
      `the last record of pruning says that ${left.rows} commits up to ${upTo} (checkpoint ${checkpoint.k}) are left, but the journal has ${rows === left.rows ? "different ones" : rows}`,
    );
  }
}
