import type { StoredEvent } from "../../protocol/index.ts";
import type { Commit, JournalRecord } from "../ledger/index.ts";
import type { LogRow } from "./store.ts";

/** Positions of records: so many fit into one row. */
const PER_ROW = 4_096;

type Meta = Omit<JournalRecord, "seq" | "stream" | "body">;

/** What a commit says has happened, as its log row. */
export function toLogRow({ session, change, writes }: Commit): Omit<LogRow, "seq" | "archived"> {
  const events: string[] = [];
  const bodies: (string | null)[] = [];
  const kinds: string[] = [];
  for (const write of writes) {
    if (write.kind === "event") events.push(write.text ?? JSON.stringify(write.event));
    else if (write.kind === "journal") {
      const { stream: _stream, body, ...meta } = write.record;
      bodies.push(body);
      kinds.push(JSON.stringify(meta));
    }
  }
  return {
    session: session.key,
    n: session.version + 1,
    at: change.updatedAt,
    kinds,
    digest: "",
    hash: change.chain.hash,
    events: change.nextSeq - 1,
    body: `{"records":${JSON.stringify(bodies)},"events":[${events.join(",")}]}`,
  };
}

interface Body {
  readonly records: readonly (string | null)[];
  readonly events: readonly StoredEvent[];
}

export function recordsOf({ seq, session, kinds, body }: LogRow): readonly JournalRecord[] {
  if (kinds.length === 0) return [];
  const records = body === null ? [] : (JSON.parse(body) as Body).records;
  return kinds.map((text, place) => ({
    seq: seq * PER_ROW + place,
    stream: session,
    ...(JSON.parse(text) as Meta),
    body: records[place] ?? null,
  }));
}

export function eventsOf({ body }: LogRow): readonly StoredEvent[] {
  return body === null ? [] : (JSON.parse(body) as Body).events;
}

/** The row that a record's position is in, and which of its records it is. */
export function placeOf(seq: number): { readonly row: number; readonly place: number } {
  return { row: Math.floor(seq / PER_ROW), place: seq % PER_ROW };
}
