import type { JournalPlace } from "../../engine/index.ts";

/**
 * The id of a message: the record's number and its hash. The number alone would not do: a database that lost its last
 * records in a crash gives their numbers to others, and a client that comes back from there would miss those.
 */
export function toEventId({ seq, hash }: JournalPlace): string {
  return hash === undefined ? String(seq) : `${seq}:${hash}`;
}

/** The place that an id names, undefined where it is none. A number alone is taken as it is. */
export function fromEventId(id: string): JournalPlace | undefined {
  const [, seq, hash] = /^(\d{1,15})(?::([\w-]{1,64}))?$/.exec(id) ?? [];
  if (seq === undefined) return undefined;
  return { seq: Number(seq), ...(hash === undefined ? {} : { hash }) };
}
