import { createHash } from "node:crypto";
import { CountersignError, isJsonObject, type JsonObject } from "../../protocol/index.ts";
import type { Draft, KeyValueStore, SessionName } from "../ledger/index.ts";
import { userOfCaller } from "../people/index.ts";

const KIND = "call-key";

/** Where the call of a key is stored. */
export interface KeyedCall {
  readonly session: SessionName;
  readonly tool: string;
}

/** A caller's key, and the call that it names. */
export interface KeyBinding {
  readonly by: string;
  readonly key: string;
  readonly call: KeyedCall;
}

/**
 * Binds a caller's key to one call, for good: also after the call was pruned, the key never starts another. The commit is
 * refused if the key is bound already.
 */
export function writeCallKey(draft: Draft, { by, key, call }: KeyBinding): void {
  draft.write({ kind: "item", item: { kind: KIND, id: idOf(by, key), value: toJson(call) }, read: 0 });
}

/** Is the key bound to this call? Throws `key-reused` if it is bound to another app, thread or tool. */
export async function isBound(
  store: Pick<KeyValueStore, "get">,
  { by, key, call }: KeyBinding,
): Promise<boolean> {
  const bound = await readCallKey(store, { by, key });
  if (bound === undefined || isSame(bound, call)) return bound !== undefined;
  throw new CountersignError("key-reused", `The key "${key}" was already used for ${told(bound)}.`, {
    details: { field: "key", hint: "Use a new key for a new call." },
  });
}

/** What a caller's key is bound to. */
export async function readCallKey(
  store: Pick<KeyValueStore, "get">,
  { by, key }: { readonly by: string; readonly key: string },
): Promise<KeyedCall | undefined> {
  const value = (await store.get(KIND, idOf(by, key)))?.value;
  if (!isJsonObject(value)) return undefined;
  const { app, thread, tool } = value;
  if (typeof app !== "string" || typeof thread !== "string" || typeof tool !== "string") return undefined;
  return { session: callerSession({ by, app, thread }), tool };
}

/** The session of a caller's thread. */
export function callerSession(of: {
  readonly by: string;
  readonly app: string;
  readonly thread: string;
}): SessionName {
  return { app: of.app, user: userOfCaller(of.by), id: of.thread };
}

const LONGEST_KEY = 256;

/**
 * The key of a framework's call: its thread and its own id in it. `occurrence` counts earlier calls of the thread with the
 * same id, if the model's provider uses ids again.
 */
export function callKey(thread: string, id: string, occurrence = 0): string {
  const key = [thread, id, ...(occurrence === 0 ? [] : [String(occurrence)])]
    .map(encodeURIComponent)
    .join("/");
  if (key.length <= LONGEST_KEY) return key;
  return `sha256/${createHash("sha256").update(key).digest("base64url")}`;
}

function toJson({ session, tool }: KeyedCall): JsonObject {
  return { app: session.app, thread: session.id, tool };
}

function isSame(one: KeyedCall, other: KeyedCall): boolean {
  return (
    one.tool === other.tool && one.session.app === other.session.app && one.session.id === other.session.id
  );
}

function told({ tool, session }: KeyedCall): string {
  return `${tool} of ${session.app}`;
}

function idOf(by: string, key: string): string {
  return createHash("sha256")
    .update(JSON.stringify([by, key]))
    .digest("base64url");
}
