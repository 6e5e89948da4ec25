import { createHash } from "node:crypto";
import { hmac } from "../common/index.ts";
import type { ChainHasher } from "../journal/index.ts";
import type { CheckpointRecord, LogRow, Remains, SessionRecord } from "../ledger/index.ts";

export const FORMAT = "countersign-archive-v1";

/** The last checkpoint of a file, or of the one before it. */
export type CheckpointPlace = Pick<CheckpointRecord, "k" | "hash">;

/** The first line of a file: what it is, and which file it follows. */
export interface ArchiveHeader {
  readonly archive: typeof FORMAT;
  readonly ledger: string;
  /** Files of one ledger are numbered from 1. */
  readonly file: number;
  /** The seal of the file before it; empty in the first. */
  readonly follows: string;
  /** Its checkpoints go on from this one. */
  readonly checkpoint: CheckpointPlace;
  /** Are its hashes keyed with the ledger's secret? */
  readonly keyed: boolean;
  /** What the digests of bodies were made with. */
  readonly bodyPrefix: string;
}

/** Before the lines of a session: which it is, where its chain ends, and what is known of its calls and decisions. */
export type ArchivedSession = Pick<
  SessionRecord,
  "key" | "app" | "user" | "id" | "createdAt" | "updatedAt" | "deletedAt" | "chain"
> &
  Remains;

/** The last line of a file. */
export interface ArchiveEnd {
  readonly sessions: number;
  readonly rows: number;
  /** The digest of all lines before it. */
  readonly digest: string;
  readonly seal: string;
}

/** One line of a file. The lines of a session follow it. */
export type ArchiveLine =
  | ArchiveHeader
  | { readonly checkpoint: CheckpointRecord }
  | { readonly session: ArchivedSession }
  | { readonly row: Omit<LogRow, "session"> }
  | { readonly end: ArchiveEnd };

/** Which file of which ledger. */
export interface ArchiveFile {
  readonly ledger: string;
  readonly file: number;
}

/** Tells a ledger from all others; made of the key that it was begun with. */
export function ledgerId(digestKey: Uint8Array): string {
  return hmac(digestKey, "ledger id").slice(0, 22);
}

/** The digest of the lines of a file, as they go by. */
export class LinesDigest {
  readonly #hash = createHash("sha256");

  add(line: string): void {
    this.#hash.update(line).update("\n");
  }

  end(): string {
    return this.#hash.digest("base64url");
  }
}

/** With a secret nobody without it can make one that fits. */
export function sealOf(hasher: ChainHasher, digest: string): string {
  return hasher(JSON.stringify([FORMAT, digest]));
}
