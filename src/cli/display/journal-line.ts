import {
  type EntryTable,
  entrySubject,
  type JournalEntry,
  type JournalRecord,
  parseEntry,
  readEntry,
} from "../../engine/index.ts";
import { isJsonObject, type JsonObject } from "../../protocol/index.ts";
import { absoluteTime } from "../duration.ts";
import { shortId } from "../find-confirmation.ts";
import { inert, type Output } from "../output.ts";
import { cutTo, padTo } from "./text-width.ts";

const KIND_WIDTH = 22;

/** A record's stored content; null if it was erased. */
export function recordBody({ body }: JournalRecord): JsonObject | null {
  return isJsonObject(body) ? body : null;
}

/** One line: when, what, which tool, which confirmation, who; without values that are the same in all lines. */
export function printRecord(output: Output, record: JournalRecord, common: readonly string[] = []): void {
  const time = output.style("dim", absoluteTime(record.at));
  const kind = padTo(inert(record.kind), KIND_WIDTH);
  const room = output.size.columns - absoluteTime(record.at).length - KIND_WIDTH - 4;
  const about = aboutOf(record, common);
  // A file or a pipe has room for all of it.
  output.line(`${time}  ${kind}  ${output.isTerminal ? cutTo(about, room) : about}`.trimEnd());
}

function aboutOf(record: JournalRecord, common: readonly string[]): string {
  const entry = parseEntry(record);
  switch (entry.state) {
    case "erased":
      return "(erased; its digest is kept)";
    case "unreadable":
      return `(not readable: ${inert(entry.why, 60)})`;
    case "readable":
      return describe(entry, common);
  }
}

function describe(entry: JournalEntry, common: readonly string[]): string {
  const { tools = entrySubject(entry).tool, who, as, reason } = readEntry(entry, LINES);
  const { confirmation } = entrySubject(entry);
  return [
    tools,
    confirmation === undefined ? undefined : shortId(confirmation),
    who === undefined ? undefined : `by ${who}`,
    as,
    reason === undefined ? undefined : `(${reason})`,
  ]
    .filter((text) => text !== undefined)
    .filter((text) => !common.includes(text))
    .map((text) => inert(text, 60))
    .join(" ");
}

/** The rest of a line, after the tool and the question. */
interface Line {
  /** If the record is about several calls. */
  readonly tools?: string;
  readonly who?: string | undefined;
  readonly as?: string;
  readonly reason?: string | undefined;
}

const nothing = (): Line => ({});
const toolsIn = ({ calls }: { readonly calls: readonly { readonly tool: string }[] }): Line => ({
  tools: calls.map(({ tool }) => tool).join(", "),
});
const why = ({ reason }: { readonly reason?: string }): Line => ({ reason });
const who = ({ by }: { readonly by: string }): Line => ({ who: by });
const whoAndWhy = ({
  by,
  reason,
}: {
  readonly by?: { readonly id: string };
  readonly reason?: string;
}): Line => ({ who: by?.id, reason });

/** Who voted, and for whom. */
const voterIn = (by: { readonly id: string }, delegated?: { readonly from: string }): string =>
  delegated === undefined ? by.id : `${by.id} for ${delegated.from}`;

const LINES: EntryTable<Line> = {
  "confirmation-requested": nothing,
  "confirmation-approved": ({ by, reason, amended, delegated }) => ({
    who: voterIn(by, delegated),
    reason,
    ...(amended === undefined ? {} : { as: `with changed ${amended.fields.join(", ")}` }),
  }),
  "confirmation-denied": ({ by, reason, delegated }) => ({ who: voterIn(by, delegated), reason }),
  "vote-cast": ({ by, confirmed, reason, delegated }) => ({
    who: voterIn(by, delegated),
    as: confirmed ? "for it" : "against it",
    reason,
  }),
  "vote-withdrawn": ({ by }) => ({ who: by.id }),
  "confirmation-seen": ({ by }) => ({ who: by.id }),
  "confirmation-reminded": nothing,
  "confirmation-escalated": nothing,
  "confirmation-expired": nothing,
  "confirmation-cancelled": whoAndWhy,
  "confirmation-restored": whoAndWhy,
  "decision-refused": ({ by }) => ({ who: by.id }),
  "calls-started": toolsIn,
  "calls-answered": toolsIn,
  "call-allowed": ({ by }) => ({ who: by }),
  "call-started": ({ by }) => ({ who: by }),
  "call-succeeded": nothing,
  "call-failed": nothing,
  "call-denied": nothing,
  "call-expired": nothing,
  "call-cancelled": why,
  "call-unknown": whoAndWhy,
  "call-released": why,
  "call-delegated": nothing,
  "call-returned": nothing,
  "call-result": nothing,
  "call-settled": ({ by, as, happened }) => ({
    who: by.id,
    as: happened === false ? `${as}; nothing happened` : as,
  }),
  "late-result": nothing,
  "grant-minted": ({ by, grant, limits }) => ({ who: by.join(", "), as: `${grant}, ${limits.count} calls` }),
  "grant-used": ({ by, grant, uses }) => ({ as: `use ${uses} of grant ${grant} of ${by.join(", ")}` }),
  "grant-refunded": ({ grant, uses }) => ({ as: `given back to grant ${grant}; ${uses} used` }),
  "grant-refused": ({ refused }) => ({
    as: refused.map(({ grant, reason }) => `grant ${grant}: ${reason}`).join("; "),
  }),
  "grant-revoked": ({ by, grant, reason }) => ({ who: by?.id, as: grant, reason }),
  "step-started": nothing,
  "step-done": nothing,
  "step-failed": nothing,
  "delegation-made": ({ by, from, to, until }) => ({
    who: by.id,
    as: `for ${from} to ${to} until ${new Date(until).toISOString()}`,
  }),
  "delegation-revoked": ({ by, from, to }) => ({ who: by.id, as: `for ${from} to ${to}` }),
  "hold-placed": ({ by, on, name, reason }) => ({ who: by.id, as: `on the ${on} ${name}`, reason }),
  "hold-released": ({ by, hold, reason }) => ({ who: by.id, as: hold, reason }),
  "tenant-changed": ({ by, tenant, to }) => ({ who: by.id, as: `${tenant}: ${to}` }),
  "run-cancelled": why,
  "session-imported": who,
  "session-deleted": who,
  "session-pruned": nothing,
  "person-erased": ({ by, person, sessions }) => ({ who: by.id, as: `${person}, ${sessions} sessions` }),
  "journal-archived": ({ by, file, sessions }) => ({
    who: by.id,
    as: `${sessions} sessions archived in file ${file}`,
  }),
  "journal-pruned": ({ by, checkpoint, sessions }) => ({
    who: by.id,
    as: `the journal of ${sessions.length} sessions removed, up to checkpoint ${checkpoint.k}`,
  }),
  "retention-run": ({ by, erased, held }) => ({ who: by.id, as: `${erased} sessions erased, ${held} held` }),
};

/** Is the record about this call, or a question about it? */
export function isAbout(record: JournalRecord, callId: string): boolean {
  const entry = parseEntry(record);
  if (entry.state !== "readable") return false;
  if (entry.kind === "calls-started" || entry.kind === "calls-answered")
    return entry.body.calls.some(({ call }) => call === callId);
  return entrySubject(entry).call === callId;
}
