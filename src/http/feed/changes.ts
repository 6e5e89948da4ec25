import {
  allDelegations,
  type ConfirmationSubject,
  cutSubject,
  entrySubject,
  type JournalPlace,
  type JournalRecord,
  type Ledger,
  parseEntry,
  toConfirmation,
  type VoteDelegation,
} from "../../engine/index.ts";
import { maySee, rightsHere } from "../approvals/visibility.ts";
import { type IdReader, toEventId } from "./event-id.ts";

/** One journal record about a confirmation, with the confirmation as it is now. */
export interface Change {
  /** Its journal record. */
  readonly place: JournalPlace;
  readonly subject: ConfirmationSubject;
  /** Who votes for whom now. */
  readonly delegations: readonly VoteDelegation[];
  /** The confirmation as JSON, without `can`, which depends on the reader. */
  readonly told: string;
}

/**
 * Reads the confirmations of these records. Each confirmation is read and serialised once, however many records are
 * about it.
 */
export async function readChanges(
  ledger: Pick<Ledger, "load" | "calls" | "items">,
  records: readonly JournalRecord[],
): Promise<readonly Change[]> {
  const about = records.map((record) => ({
    place: { seq: record.seq, hash: record.hash },
    ...refersTo(record),
  }));
  const asked = await confirmationsOf(
    ledger,
    about.flatMap(({ call }) => call ?? []),
  );
  const named = about.map(({ place, confirmation, call }) => ({
    place,
    id: confirmation ?? asked.get(call ?? "") ?? "",
  }));
  const known = await readAll(ledger, new Set(named.map(({ id }) => id)));
  const delegations = known.size === 0 ? [] : await allDelegations(ledger);
  return named.flatMap(({ place, id }) => {
    const found = known.get(id);
    return found === undefined ? [] : [{ place, delegations, ...found }];
  });
}

// One by one would be slow on a remote ledger; all at once would block others.
const AT_ONCE = 8;

async function readAll(
  ledger: Pick<Ledger, "load">,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, Omit<Change, "place" | "delegations">>> {
  const known = new Map<string, Omit<Change, "place" | "delegations">>();
  const left = [...ids].filter((id) => id !== "").values();
  const lane = async (): Promise<void> => {
    for (const id of left) {
      const found = await read(ledger, id);
      if (found !== undefined) known.set(id, found);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return known;
}

/** The changes as messages for one viewer, empty if none is for them. */
export function toMessages(changes: readonly Change[], reader: IdReader): string {
  let text = "";
  for (const { place, subject, told, delegations } of changes) {
    if (!maySee(subject.confirmation, reader.viewer, { delegations })) continue;
    const can = JSON.stringify(rightsHere(subject, reader.viewer, { delegations }));
    text += `id: ${toEventId(reader, place)}\nevent: confirmation\ndata: ${told.slice(0, -1)},"can":${can}}\n\n`;
  }
  return text;
}

function refersTo(record: JournalRecord): { readonly confirmation?: string; readonly call?: string } {
  const entry = parseEntry(record);
  // It is not known whose confirmation it is about, so it is sent to nobody.
  return entry.state === "readable" ? entrySubject(entry) : {};
}

async function confirmationsOf(
  ledger: Pick<Ledger, "calls">,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const calls = ids.length === 0 ? [] : await ledger.calls([...new Set(ids)]);
  return new Map(
    calls.flatMap(({ id, confirmation }) =>
      confirmation === undefined ? [] : [[id, confirmation] as const],
    ),
  );
}

async function read(
  ledger: Pick<Ledger, "load">,
  id: string,
): Promise<Omit<Change, "place" | "delegations"> | undefined> {
  const { confirmation, call, session } = (await ledger.load({ confirmation: id })) ?? {};
  if (confirmation === undefined || call === undefined || session === undefined) return undefined;
  // Truncated as in lists: a page of the journal may have hundreds, each sent to every listener.
  const subject = cutSubject({ confirmation, call, session: { id: session.id } });
  const { can: _viewers, ...told } = toConfirmation(subject);
  return { subject, told: JSON.stringify(told) };
}
