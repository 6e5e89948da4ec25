import { isJsonArray, isJsonObject, type JsonValue } from "../../protocol/index.ts";
import { ChainWalk } from "../audit/index.ts";
import { bodyDigest } from "../common/index.ts";
import { allHolds, guardItem, type Hold, heldLogins, holdOn, isDiary } from "../holds/index.ts";
import { parseEntry, recordsOf } from "../journal/index.ts";
import type { ItemVersion, LogRow, SessionRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { JournalRules } from "./rules.ts";

const PAGE = 500;
const MOST_BYTES = 4_000_000;

/** A session whose lines may go, or why they may not. */
export type AgedJournal =
  | { readonly goes: true; readonly rows: readonly LogRow[] }
  | { readonly goes: false; readonly why: "young" | "unsound" }
  | { readonly goes: false; readonly why: "held"; readonly hold: Hold };

const YOUNG: AgedJournal = { goes: false, why: "young" };

/**
 * Is the journal of an erased session past its age? What the document says is not enough: that it was erased, and when the last
 * thing happened, its chain must say.
 */
export async function agedJournal(
  parts: EngineParts,
  session: SessionRecord,
  { rules, upTo }: { readonly rules: JournalRules; readonly upTo: number },
): Promise<AgedJournal> {
  if (session.deletedAt === undefined || isDiary(session)) return YOUNG;
  // Without the lines, first: most are too young.
  if (session.updatedAt >= parts.ledger.now - rules.shortestMs) return YOUNG;
  const read = await readLines(parts, session);
  const last = read.rows.at(-1);
  if (read.fault || last === undefined) return { goes: false, why: "unsound" };
  if (last.seq > upTo || !read.isErased) return YOUNG;
  const { calls } = await parts.ledger.journal.remains(session.key);
  const tools = new Set([...read.tools, ...calls.map(({ tool }) => tool)]);
  const keepMs = rules.keepMs(session.app, tools);
  // A session that is buried was judged before, when more was known of it.
  const isAged =
    session.pruned !== undefined || (keepMs !== undefined && last.at < parts.ledger.now - keepMs);
  if (!isAged) return YOUNG;
  const { hold } = await holdOnJournal(parts, session);
  return hold === undefined ? { goes: true, rows: read.rows } : { goes: false, why: "held", hold };
}

interface Lines {
  readonly rows: readonly LogRow[];
  readonly tools: ReadonlySet<string>;
  /** Does its chain say that its content was erased? */
  readonly isErased: boolean;
  readonly fault: boolean;
}

/** An erased session's lines are short. */
async function readLines(
  { ledger, hasher }: EngineParts,
  { key, chain }: Pick<SessionRecord, "key" | "chain">,
): Promise<Lines> {
  let fault = false;
  const check = { hasher, digestOf: (body: string): string => bodyDigest(ledger.digestKey, body) };
  const walk = new ChainWalk(check, key, () => {
    fault = true;
  });
  const rows: LogRow[] = [];
  const tools = new Set<string>();
  let isErased = false;
  for (let after = 0; ; ) {
    const page = await ledger.journal.sessionRows(key, { after, limit: PAGE, bytes: MOST_BYTES });
    for (const row of page) {
      walk.take(row);
      rows.push({ ...row, body: null });
      isErased ||= row.kinds.includes("session-deleted") || row.kinds.includes("session-pruned");
      for (const tool of toolsKept(row)) tools.add(tool);
    }
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.n;
  }
  walk.finish();
  const { n, hash } = walk.end;
  return { rows, tools, isErased, fault: fault || n !== chain.n || hash !== chain.hash };
}

/** An erasure by age says which tools were called. */
function toolsKept(row: LogRow): readonly string[] {
  return recordsOf(row).flatMap((record) => {
    const entry = parseEntry(record);
    return entry.state === "readable" && entry.kind === "session-pruned" ? (entry.body.tools ?? []) : [];
  });
}

/** A hold on a person also keeps what is left of sessions in which they asked or decided. */
export async function holdOnJournal(
  parts: EngineParts,
  session: SessionRecord,
): Promise<{ readonly guard: ItemVersion; readonly hold?: Hold }> {
  const { guard, hold } = await holdOn(parts, session);
  const found = hold ?? (await holdOnRemains(parts, session.key));
  return { guard: guardItem(guard), ...(found === undefined ? {} : { hold: found }) };
}

async function holdOnRemains(parts: EngineParts, key: string): Promise<Hold | undefined> {
  const people = (await allHolds(parts.ledger)).filter(({ on }) => on === "user");
  if (people.length === 0) return undefined;
  const remains: unknown = await parts.ledger.journal.remains(key);
  const words = new Set(textsIn(remains as JsonValue));
  return people.find((hold) => [...heldLogins(hold, parts.directory)].some((login) => words.has(login)));
}

/** Any text will do: what only reads like the name is kept too. */
function* textsIn(value: JsonValue | undefined): Generator<string> {
  if (typeof value === "string") yield value;
  else if (isJsonArray(value)) for (const each of value) yield* textsIn(each);
  else if (isJsonObject(value)) for (const each of Object.values(value)) yield* textsIn(each);
}
