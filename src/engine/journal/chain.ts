import { hash } from "node:crypto";
import { hmac } from "../common/index.ts";
import type { CheckpointRecord, JournalRecord } from "../ledger/index.ts";

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
/**
 * The hash that ties a record to the one before it, and to the newest checkpoint that its writer knew, 0 for none: a
 * record that is left tells that the checkpoint was there. Its number stands before the hash itself.
 */
export function recordHash(
  hasher: ChainHasher,
  previous: string,
  record: Pick<JournalRecord, "stream" | "n" | "at" | "kind" | "bodyDigest">,
  sealed: number,
): string {
  const { stream, n, at, kind, bodyDigest } = record;
  const text = JSON.stringify(["record-v2", previous, sealed, stream, n, at, kind, bodyDigest]);
  return `${sealed}-${hasher(text)}`;
}

const RECORD_HASH = /^(0|[1-9]\d{0,14})-/;

/** The number of the checkpoint that a record's hash names; undefined where it is none of ours. */
export function sealedBefore(recordHashText: string): number | undefined {
  const [, sealed] = RECORD_HASH.exec(recordHashText) ?? [];
  return sealed === undefined ? undefined : Number(sealed);
}

/**
 * The hash that ties a checkpoint to the one before it. Where checkpoints went with a server that was replaced, it says
 * up to which number its records name such: that number stands before the hash itself.
 */
export function checkpointHash(
  hasher: ChainHasher,
  previous: string,
  checkpoint: Omit<CheckpointRecord, "hash">,
  lost = 0,
): string {
  const { k, lastSeq, count, root, at } = checkpoint;
  const sealed = [previous, k, lastSeq, count, root, at];
  if (lost === 0) return hasher(JSON.stringify(["checkpoint-v1", ...sealed]));
  return `${lost}.${hasher(JSON.stringify(["checkpoint-after-loss-v1", lost, ...sealed]))}`;
}

const LOSS = /^([1-9]\d{0,14})\./;

/** Up to which number checkpoints were lost, by what the hash of the next one says; 0 where none were. */
export function lostBefore(checkpointHashText: string): number {
  return Number(LOSS.exec(checkpointHashText)?.[1] ?? 0);
}

/** Folds one more record into a checkpoint's root; order, number and content all count. */
export function foldRoot(
  hasher: ChainHasher,
  root: string,
  record: Pick<JournalRecord, "seq" | "stream" | "n" | "hash">,
): string {
  return hasher(JSON.stringify(["root-v1", root, record.seq, record.stream, record.n, record.hash]));
}
