import { CountersignError } from "../../protocol/index.ts";
import { ChainWalk } from "../audit/index.ts";
import { bodyDigest, bodyDigestPrefix } from "../common/index.ts";
import type { CheckpointRecord, Ledger, LogRow, SessionRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import {
  type ArchivedSession,
  type ArchiveLine,
  type CheckpointPlace,
  FORMAT,
  LinesDigest,
  ledgerId,
  sealOf,
} from "./format.ts";

const PAGE = 500;
const MOST_BYTES = 4_000_000;

/** Where the next file goes on. */
export interface ArchivePlace {
  /** The number of the last file; 0 if there is none. */
  readonly file: number;
  readonly seal: string;
  readonly checkpoint: CheckpointPlace;
}

export const NO_ARCHIVE: ArchivePlace = { file: 0, seal: "", checkpoint: { k: 0, hash: "" } };

/** A session's lines, as far as it went when it was listed. */
async function* linesOfSession(
  { journal }: Pick<Ledger, "journal">,
  { key, chain }: Pick<SessionRecord, "key" | "chain">,
): AsyncGenerator<LogRow> {
  for (let after = 0; after < chain.n; ) {
    const page = await journal.sessionRows(key, { after, limit: PAGE, bytes: MOST_BYTES });
    for (const row of page) if (row.n <= chain.n) yield row;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.n;
  }
}

/** What is wrong with a session's chain, and how much its bodies take. What is not sound must not be sealed again. */
export async function inspectChain(
  parts: EngineParts,
  session: SessionRecord,
): Promise<{ readonly bytes: number; readonly fault?: string }> {
  const { walk, faults } = walkOf(parts, session.key);
  let bytes = 0;
  for await (const row of linesOfSession(parts.ledger, session)) {
    walk.take(row);
    bytes += row.body?.length ?? 0;
  }
  const fault = endOf(walk, session, faults);
  return fault === undefined ? { bytes } : { bytes, fault };
}

/** The lines of the next file, with these sessions. Throws if one of them is not sound. */
export async function* archiveLines(
  parts: EngineParts,
  place: ArchivePlace,
  sessions: readonly SessionRecord[],
): AsyncGenerator<string> {
  const digest = new LinesDigest();
  let rows = 0;
  for await (const line of contents(parts, place, sessions)) {
    if ("row" in line) rows += 1;
    const text = JSON.stringify(line);
    digest.add(text);
    yield text;
  }
  const ended = digest.end();
  const seal = sealOf(parts.hasher, ended);
  yield JSON.stringify({
    end: { sessions: sessions.length, rows, digest: ended, seal },
  } satisfies ArchiveLine);
}

async function* contents(
  parts: EngineParts,
  place: ArchivePlace,
  sessions: readonly SessionRecord[],
): AsyncGenerator<ArchiveLine> {
  const { ledger } = parts;
  yield {
    archive: FORMAT,
    ledger: ledgerId(ledger.digestKey),
    file: place.file + 1,
    follows: place.seal,
    checkpoint: place.checkpoint,
    keyed: parts.secret !== undefined,
    bodyPrefix: bodyDigestPrefix(ledger.digestKey),
  };
  for await (const checkpoint of checkpointsAfter(ledger, place.checkpoint.k)) yield { checkpoint };
  for (const session of sessions) yield* contentsOf(parts, session);
}

async function* contentsOf(parts: EngineParts, session: SessionRecord): AsyncGenerator<ArchiveLine> {
  const { key, app, user, id, createdAt, updatedAt, deletedAt, chain } = session;
  const head: ArchivedSession = {
    key,
    app,
    user,
    id,
    createdAt,
    updatedAt,
    ...(deletedAt === undefined ? {} : { deletedAt }),
    chain,
    ...(await parts.ledger.journal.remains(key)),
  };
  yield { session: head };
  const { walk, faults } = walkOf(parts, key);
  for await (const row of linesOfSession(parts.ledger, session)) {
    walk.take(row);
    const { session: _session, ...rest } = row;
    yield { row: rest };
  }
  const fault = endOf(walk, session, faults);
  if (fault !== undefined) throw unsound(fault);
}

function walkOf(
  { ledger, hasher }: EngineParts,
  key: string,
): { readonly walk: ChainWalk; readonly faults: string[] } {
  const faults: string[] = [];
  const digestOf = (body: string): string => bodyDigest(ledger.digestKey, body);
  const walk = new ChainWalk({ hasher, digestOf }, key, (where, what) => faults.push(`${where}: ${what}`));
  return { walk, faults };
}

function endOf(walk: ChainWalk, { key, chain }: SessionRecord, faults: string[]): string | undefined {
  walk.finish();
  const { n, hash } = walk.end;
  if (n !== chain.n || hash !== chain.hash)
    faults.push(`session ${key}: its chain ends at commit ${n}, but the session says ${chain.n}`);
  return faults[0];
}

function unsound(fault: string): CountersignError {
  return new CountersignError(
    "internal",
    `The journal changed while it was archived (${fault}). Run \`countersign audit verify\`.`,
  );
}

async function* checkpointsAfter({ journal }: Ledger, k: number): AsyncGenerator<CheckpointRecord> {
  for (let after = k; ; ) {
    const page = await journal.checkpoints(after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.k;
  }
}
