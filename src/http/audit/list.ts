import type { JournalRecord, Ledger, Principal } from "../../engine/index.ts";
import { CountersignError, isJsonObject, type JsonObject, member, parseJson } from "../../protocol/index.ts";
import { find } from "../approvals/visibility.ts";
import type { AuditQuery } from "../schemas/queries.ts";
import { checkScope, hasScope } from "../scopes.ts";

const DEFAULT_LIMIT = 50;
const READ = 500;
// How often one request asks the ledger: where few records fit, a page is short and has a next one.
const MOST_READS = 20;

/** One record of the journal, as it is told. */
export interface AuditRecord {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  /** The key of the session that it belongs to. */
  readonly session: string;
  readonly n: number;
  /** Null once it was erased. */
  readonly body: JsonObject | null;
  readonly bodyDigest: string;
  readonly hash: string;
}

type Wanted = (record: AuditRecord) => boolean;

/** The journal, oldest first: all of it for administrators, one's own confirmation for everyone who may see that. */
export async function listAudit(
  ledger: Ledger,
  query: AuditQuery,
  principal: Principal,
): Promise<{ readonly items: readonly AuditRecord[]; readonly next?: string }> {
  const scope = await scopeOf(ledger, query, principal);
  const wanted = (record: AuditRecord): boolean => scope.wanted(record) && hasWords(record, query.q);
  const limit = query.limit ?? DEFAULT_LIMIT;
  const items: AuditRecord[] = [];
  let after = query.after ?? 0;
  // Within one session records are counted by `n`; where to begin is said by `seq`, as everywhere.
  let n = 0;
  for (let reads = 0; reads < MOST_READS; reads += 1) {
    const page =
      scope.stream === undefined
        ? await ledger.journal({ after, limit: READ })
        : await ledger.chain(scope.stream, { after: n, limit: READ });
    for (const record of page) {
      n = record.n;
      if (record.seq <= after) continue;
      after = record.seq;
      const told = tell(record);
      if (wanted(told)) items.push(told);
      if (items.length === limit) return { items, next: String(after) };
    }
    if (page.length < READ) return { items };
  }
  return { items, next: String(after) };
}

async function scopeOf(
  ledger: Ledger,
  { session, confirmation }: AuditQuery,
  principal: Principal,
): Promise<{ readonly stream?: string; readonly wanted: Wanted }> {
  if (confirmation !== undefined) {
    checkScope(principal, "admin", "read", "decide");
    const found = await find(ledger, confirmation, principal);
    return {
      stream: found.session.key,
      wanted: ({ body }) =>
        body !== null &&
        (member(body, "confirmation") === confirmation ||
          (member(body, "confirmation") === undefined && member(body, "call") === found.call.id)),
    };
  }
  if (!hasScope(principal, "admin")) {
    throw new CountersignError("forbidden", `${principal.id} does not have the scope "admin".`, {
      details: { hint: "Name a confirmation of yours with ?confirmation=, or use a token that has it." },
    });
  }
  if (session === undefined) return { wanted: () => true };
  return { stream: await streamOf(ledger, session), wanted: () => true };
}

async function streamOf(ledger: Ledger, given: string): Promise<string> {
  const [, app, user, id] = /^([^/]+)\/([^/]+)\/(.+)$/s.exec(given) ?? [];
  const named =
    app === undefined || user === undefined || id === undefined
      ? undefined
      : await ledger.load({ session: { app, user, id } });
  const found = named ?? (await ledger.load({ sessionKey: given }));
  if (found !== undefined) return found.session.key;
  throw new CountersignError("unknown-session", `There is no session "${given}".`, {
    details: { field: "session", hint: "Give its key, or app/user/id." },
  });
}

function tell({ seq, at, kind, stream, n, body, bodyDigest, hash }: JournalRecord): AuditRecord {
  const parsed = body === null ? undefined : parseJson(body);
  const said = parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : null;
  return { seq, at: new Date(at).toISOString(), kind, session: stream, n, body: said, bodyDigest, hash };
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
