import type { JournalPlace, Ledger, Principal } from "../../engine/index.ts";
import { type CursorUse, sealCursor, unseal } from "../cursors.ts";

/** Whose ids these are: of one reader, on one ledger. */
export interface IdReader {
  readonly ledger: Pick<Ledger, "digestKey">;
  readonly viewer: Principal;
}

/**
 * The id of a message: the record's number and its hash, encrypted for its reader, because the number reveals how much
 * others do. The number alone is not enough: a database that lost its last records in a crash assigns their numbers
 * again, and a client that resumes there would miss records.
 */
export function toEventId({ ledger, viewer }: IdReader, { seq, hash }: JournalPlace): string {
  return sealCursor(ledger, useBy(viewer), hash === undefined ? String(seq) : `${seq}:${hash}`);
}

/** The position in an id; undefined if it is not this reader's. `0` is before the first record. */
export function fromEventId({ ledger, viewer }: IdReader, id: string): JournalPlace | undefined {
  if (id === "0") return { seq: 0 };
  const place = unseal(ledger, useBy(viewer), id);
  const [, seq, hash] = /^(\d{1,15})(?::([\w-]{1,64}))?$/.exec(place ?? "") ?? [];
  if (seq === undefined) return undefined;
  return { seq: Number(seq), ...(hash === undefined ? {} : { hash }) };
}

function useBy(principal: Principal): CursorUse {
  return { list: "/v1/confirmations/stream", principal };
}
