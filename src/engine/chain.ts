import { hash } from "node:crypto";
import { hmac } from "./hmac.ts";
import type { CheckpointRecord, JournalRecord } from "./records.ts";

/** Hashes journal records and checkpoints; with a secret nobody without it can make one that fits. */
export type ChainHasher = (text: string) => string;

/** Keyed by the secret where there is one. */
export function chainHasher(secret: string | undefined): ChainHasher {
  if (secret === undefined) return (text) => hash("sha256", text, "base64url");
  return (text) => hmac(secret, text);
}

/** What the first record of every chain follows. */
export const CHAIN_START = "";

// A JSON array is injective: no two different records have the same text.
/** The hash that ties a record to the one before it. */
export function recordHash(
  hasher: ChainHasher,
  previous: string,
  record: Pick<JournalRecord, "stream" | "n" | "at" | "kind" | "bodyDigest">,
): string {
  return hasher(
    JSON.stringify([
      "record-v1",
      previous,
      record.stream,
      record.n,
      record.at,
      record.kind,
      record.bodyDigest,
    ]),
  );
}

/** The hash that ties a checkpoint to the one before it. */
export function checkpointHash(
  hasher: ChainHasher,
  previous: string,
  checkpoint: Omit<CheckpointRecord, "hash">,
): string {
  const { k, lastSeq, count, root, at } = checkpoint;
  return hasher(JSON.stringify(["checkpoint-v1", previous, k, lastSeq, count, root, at]));
}

/** Folds one more record into a checkpoint's root; order, number and content all count. */
export function foldRoot(
  hasher: ChainHasher,
  root: string,
  record: Pick<JournalRecord, "seq" | "stream" | "n" | "hash">,
): string {
  return hasher(JSON.stringify(["root-v1", root, record.seq, record.stream, record.n, record.hash]));
}
