import { hash } from "node:crypto";
import { hmac } from "../common/index.ts";
import type { CheckpointRecord, LogRow } from "../ledger/index.ts";

/** Hashes lines of the log and checkpoints; with a secret nobody without it can make one that fits. */
export type ChainHasher = (text: string) => string;

/** Keyed by the secret where there is one. */
export function chainHasher(secret: string | undefined): ChainHasher {
  if (secret === undefined) return (text) => hash("sha256", text, "base64url");
  return (text) => hmac(secret, text);
}

/** What the first line of every session follows. */
export const CHAIN_START = "";

// A JSON array is injective: no two different lines have the same text.
/**
 * The hash that ties a line of the log to the one before it in its session, and to the newest checkpoint that its writer
 * knew, 0 for none: a line that is left tells that the checkpoint was there. Its number is written before the hash itself.
 */
export function rowHash(
  hasher: ChainHasher,
  previous: string,
  row: Pick<LogRow, "session" | "n" | "at" | "kinds" | "digest">,
  sealed: number,
): string {
  const { session, n, at, kinds, digest } = row;
  const text = JSON.stringify(["row-v1", previous, sealed, session, n, at, kinds, digest]);
  return `${sealed}-${hasher(text)}`;
}

const ROW_HASH = /^(0|[1-9]\d{0,14})-/;

/** The number of the checkpoint that a line's hash names; undefined if the hash is not ours. */
export function sealedBefore(rowHashText: string): number | undefined {
  const [, sealed] = ROW_HASH.exec(rowHashText) ?? [];
  return sealed === undefined ? undefined : Number(sealed);
}

/**
 * The hash that ties a checkpoint to the one before it. Where checkpoints went with a server that was replaced, it says
 * up to which number its lines name such: that number is written before the hash itself.
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

/** Folds one more line into a checkpoint's root; order, number and content all count. */
export function foldRoot(
  hasher: ChainHasher,
  root: string,
  { seq, session, n, hash: rowHashText }: Pick<LogRow, "seq" | "session" | "n" | "hash">,
): string {
  return hasher(JSON.stringify(["root-v2", root, seq, session, n, rowHashText]));
}
