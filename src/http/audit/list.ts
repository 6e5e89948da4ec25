import {
  entrySubject,
  findSessionKey,
  type JournalRecord,
  type Lists,
  type Principal,
  parseEntry,
} from "../../engine/index.ts";
import { CountersignError, isJsonObject, type JsonObject } from "../../protocol/index.ts";
import { find } from "../approvals/visibility.ts";
import { type CursorUse, openCursor, sealCursor } from "../cursors.ts";
import type { AuditQuery } from "../schemas/queries.ts";
import { checkScope, hasScope } from "../scopes.ts";
import type { Site } from "../site.ts";

const DEFAULT_LIMIT = 50;
const READ = { limit: 500, bytes: 1_000_000 } as const;
const MOST_BYTES = 1_000_000;
// How often one request queries the ledger. If few records match, the page is short and has a `next`.
const MOST_READS = 20;

/** One record of the journal, as the API returns it. */
export interface AuditRecord {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  /** The key of the session that it belongs to. */
  readonly session: string;
  readonly n: number;
  /** Null once it was erased. */
  readonly body: JsonObject | null;
  /** The hash of the commit that it is in. */
  readonly hash: string;
}

type Wanted = (record: JournalRecord) => boolean;

/**
 * The journal, oldest first: all of it for administrators; one confirmation for everyone who may see that. Who may is
 * judged on the ledger, wherever the records are read.
 */
export async function listAudit(
  { site, principal, lists }: { readonly site: Site; readonly principal: Principal; readonly lists: Lists },
  query: AuditQuery,
): Promise<{ readonly items: readonly AuditRecord[]; readonly next?: string }> {
  const ledger = await site.ledger();
  const scope = await scopeOf(site, query, principal);
  const use = useOf(query, principal);
  const start =
    query.cursor === undefined ? (query.after ?? 0) : Number(openCursor(ledger, use, query.cursor));
  const page = new AuditPage(query, start);
  // Within one session records are numbered by `n`; the start is given by `seq`, as everywhere.
  let n = 0;
  for (let reads = 0; reads < scope.mostReads && !page.isFull; reads += 1) {
    const records =
      scope.stream === undefined
        ? await lists.journal.records({ after: page.after, ...READ })
        : await lists.journal.sessionRecords(scope.stream, { after: n, ...READ });
    const last = records.at(-1);
    if (last === undefined) return { items: page.items };
    n = last.n;
    page.take(records, scope.wanted);
  }
  return { items: page.items, next: sealCursor(ledger, use, String(page.after)) };
}

/** Is full only when there is something for the next page. */
class AuditPage {
  readonly items: AuditRecord[] = [];
  /** Everything up to here was read. */
  after: number;
  isFull = false;
  readonly #query: AuditQuery;
  #bytes = 0;

  constructor(query: AuditQuery, after: number) {
    this.#query = query;
    this.after = after;
  }

  take(records: readonly JournalRecord[], wanted: Wanted): void {
    const { limit = DEFAULT_LIMIT, q } = this.#query;
    for (const record of records) {
      if (record.seq <= this.after) continue;
      const told = tell(record);
      if (wanted(record) && hasWords(told, q)) {
        this.isFull = this.items.length === limit || this.#bytes >= MOST_BYTES;
        if (this.isFull) return;
        this.items.push(told);
        this.#bytes += JSON.stringify(told.body).length;
      }
      this.after = record.seq;
    }
  }
}

function useOf({ session, confirmation, q }: AuditQuery, principal: Principal): CursorUse {
  return { list: "/v1/audit", principal, filter: [session ?? null, confirmation ?? null, q ?? null] };
}

/** Which records are read, and which of them are returned. */
interface AuditScope {
  readonly stream?: string;
  readonly mostReads: number;
  readonly wanted: Wanted;
}

async function scopeOf(
  site: Site,
  { session, confirmation }: AuditQuery,
  principal: Principal,
): Promise<AuditScope> {
  if (confirmation !== undefined) {
    checkScope(principal, "admin", "read", "decide");
    const found = await find(site, confirmation, principal);
    return {
      stream: found.session.key,
      // All of the session's: where to stop must not depend on records that the principal may not see.
      mostReads: Number.POSITIVE_INFINITY,
      wanted: (record) => isAbout(record, { confirmation, call: found.call.id }),
    };
  }
  if (!hasScope(principal, "admin")) {
    throw new CountersignError("forbidden", `${principal.id} does not have the scope "admin".`, {
      details: {
        hint: "Name one of your own confirmations with ?confirmation=, or use a token with this scope.",
      },
    });
  }
  const all = { mostReads: MOST_READS, wanted: () => true };
  return session === undefined ? all : { ...all, stream: await findSessionKey(await site.ledger(), session) };
}

/** Is the record about this question, or about its call and no question in particular? */
function isAbout(
  record: JournalRecord,
  asked: { readonly confirmation: string; readonly call: string },
): boolean {
  const entry = parseEntry(record);
  // An unreadable record may be about somebody else: only administrators see it.
  if (entry.state !== "readable") return false;
  const { confirmation, call } = entrySubject(entry);
  return confirmation === undefined ? call === asked.call : confirmation === asked.confirmation;
}

function tell({ seq, at, kind, stream, n, body, hash }: JournalRecord): AuditRecord {
  const said = isJsonObject(body) ? body : null;
  return { seq, at: new Date(at).toISOString(), kind, session: stream, n, body: said, hash };
}

function hasWords({ kind, body }: AuditRecord, q: string | undefined): boolean {
  const words = (q ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return true;
  const text = `${kind} ${JSON.stringify(body)}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
