import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { KeyValueStore } from "../../engine/index.ts";

const KEY = { kind: "slack-button-key", id: "current" } as const;
const KEY_BYTES = 32;
const VALUE = /^([0-9a-f]{32})\.(\d{1,15})\.([A-Za-z0-9_-]{43})$/;

/** What a button or a dialog does. */
export type ButtonAct = "approve" | "reject" | "fill";

/** What a button is bound to. `where`: the target of its message; for a dialog, also the person who opened it. */
export interface ButtonFacts {
  readonly act: ButtonAct;
  /** The key of the subject's messages. */
  readonly key: string;
  readonly confirmation: string;
  /** The version that was shown. */
  readonly version: number;
  readonly where: readonly string[];
}

/** The key that buttons are signed with; all processes on the ledger have the same. */
export async function buttonKey(store: KeyValueStore): Promise<Uint8Array> {
  const kept = await store.get(KEY.kind, KEY.id);
  if (typeof kept?.value === "string") return Buffer.from(kept.value, "base64");
  const made = randomBytes(KEY_BYTES);
  if (await store.put({ ...KEY, value: made.toString("base64") }, 0)) return made;
  // Another process made one in the meantime.
  return buttonKey(store);
}

/** The value of a button: says nothing by itself, and cannot be made or changed without the key. */
export function buttonValue(signingKey: Uint8Array, facts: ButtonFacts): string {
  return `${facts.key}.${facts.version}.${macOf(signingKey, facts)}`;
}

/** The parts of a value that looks like ours; nothing is proven by that. */
export function splitButtonValue(
  value: unknown,
): { readonly key: string; readonly version: number } | undefined {
  const [, key, version] = typeof value === "string" ? (VALUE.exec(value) ?? []) : [];
  return key === undefined ? undefined : { key, version: Number(version) };
}

/** Is this the value that we gave to exactly this button? */
export function isButtonValue(signingKey: Uint8Array, value: string, facts: ButtonFacts): boolean {
  const [found, expected] = [Buffer.from(value), Buffer.from(buttonValue(signingKey, facts))];
  return found.length === expected.length && timingSafeEqual(found, expected);
}

function macOf(signingKey: Uint8Array, { act, key, confirmation, version, where }: ButtonFacts): string {
  const words = JSON.stringify(["countersign slack button 1", act, key, confirmation, version, where]);
  return createHmac("sha256", signingKey).update(words).digest("base64url");
}
