import {
  type ConfirmationSubject,
  type Counting,
  cutSubject,
  entrySubject,
  type JournalPlace,
  type JournalRecord,
  type Ledger,
  parseEntry,
  toConfirmation,
} from "../../engine/index.ts";
import { maySee, rightsHere } from "../approvals/visibility.ts";
import type { Site } from "../site.ts";
import { type IdReader, toEventId } from "./event-id.ts";

/** One journal record about a confirmation, with the confirmation as it is now. */
export interface Change {
  /** Its journal record. */
  readonly place: JournalPlace;
  readonly subject: ConfirmationSubject;
  /** With what rights on it are judged now. */
  readonly counting: Counting;
  /** The confirmation as JSON, without `can`, which depends on the reader. */
  readonly told: string;
}

/**
 * Reads the confirmations of these records. Each confirmation is read and serialised once, however many records are
 * about it.
 */
export async function readChanges(
  site: Pick<Site, "ledger" | "counting">,
  records: readonly JournalRecord[],
): Promise<readonly Change[]> {
  const ledger = await site.ledger();
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
  const countings = new Map<string, Counting>();
  for (const app of new Set([...known.values()].map(({ subject }) => subject.confirmation.app)))
    countings.set(app, await site.counting(app));
  return named.flatMap(({ place, id }) => {
    const found = known.get(id);
    const counting = found && countings.get(found.subject.confirmation.app);
    return found === undefined || counting === undefined ? [] : [{ place, counting, ...found }];
  });
}

// One by one would be slow on a remote ledger; all at once would block others.
const AT_ONCE = 8;

async function readAll(
  ledger: Pick<Ledger, "load">,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, Omit<Change, "place" | "counting">>> {
  const known = new Map<string, Omit<Change, "place" | "counting">>();
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
  for (const { place, subject, told, counting } of changes) {
    if (!maySee(subject.confirmation, reader.viewer, counting)) continue;
    const can = JSON.stringify(rightsHere(subject, reader.viewer, counting));
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
): Promise<Omit<Change, "place" | "counting"> | undefined> {
  const { confirmation, call, session } = (await ledger.load({ confirmation: id })) ?? {};
  if (confirmation === undefined || call === undefined || session === undefined) return undefined;
  // Truncated as in lists: a page of the journal may have hundreds, each sent to every listener.
  const subject = cutSubject({ confirmation, call, session: { id: session.id } });
  const { can: _viewers, ...told } = toConfirmation(subject);
  return { subject, told: JSON.stringify(told) };
}
