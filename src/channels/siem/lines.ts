import { createHash } from "node:crypto";
import type { JournalRecord } from "../../engine/index.ts";
import { isJsonObject, type JsonObject } from "../../protocol/index.ts";
import { toOcsf } from "./ocsf.ts";

/** How records are written. */
export type Format = "plain" | "ocsf";

/** A record of the journal as a line says it: as `/v1/audit` shows it, with an id. */
export type PlainRecord = {
  /** The same whenever this record is written. */
  readonly id: string;
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  /** The key of its session. */
  readonly session: string;
  readonly n: number;
  /** Null if it was erased before it was exported. */
  readonly body: JsonObject | null;
  readonly hash: string;
};

const ID_LENGTH = 32;

/** The record as one line of JSON. */
export function toLine(record: JournalRecord, format: Format): string {
  const plain = toPlain(record);
  return JSON.stringify(format === "plain" ? plain : toOcsf(plain, record));
}

function toPlain(record: JournalRecord): PlainRecord {
  const { seq, at, kind, stream, n, body, hash } = record;
  return {
    id: lineId(record),
    seq,
    at: new Date(at).toISOString(),
    kind,
    session: stream,
    n,
    body: isJsonObject(body) ? body : null,
    hash,
  };
}

/** The id of a record's line. A database that lost its last commits gives their numbers to others; the hash tells them apart. */
export function lineId({ hash, seq }: Pick<JournalRecord, "hash" | "seq">): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([hash, seq]))
    .digest("hex");
  return `rec_${digest.slice(0, ID_LENGTH)}`;
}
