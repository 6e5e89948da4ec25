import {
  type Asker,
  eachOf,
  type IdempotentRequest,
  type SessionName,
  type StoredItem,
  unlessClosed,
  valueDigest,
} from "../../engine/index.ts";
import {
  CountersignError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Part,
} from "../../protocol/index.ts";
import type { RunContext } from "../run-context.ts";
import { activityOf } from "../streaming/index.ts";
import type { Submission } from "./submit.ts";

/** Text that came with answers, and the run after which it becomes a message. */
export interface FollowUp {
  readonly session: SessionName;
  readonly sessionKey: string;
  readonly invocation: string;
  readonly parts: readonly Part[];
  readonly requesters?: readonly string[];
  readonly asker?: Asker;
  readonly stateDelta?: JsonObject;
  readonly whilePending: "converse" | "cancel";
}

/** Sends text as the user's message, with a key so that it is sent once. */
export type SendFollowUp = (words: FollowUp, once: IdempotentRequest) => Promise<Submission>;

/** Stores text that waits. The sender gets an answer only after this, so that a crash loses nothing. */
export async function storeFollowUp(
  run: RunContext,
  words: FollowUp,
  once: IdempotentRequest | undefined,
): Promise<StoredItem> {
  const { app, engine } = run;
  // A repetition with its own key is the same item.
  const id = once === undefined ? run.newId() : valueDigest(engine.ledger.digestKey, { ...once });
  const value = JSON.parse(JSON.stringify(words)) as JsonObject;
  await engine.ledger.items.put({ kind: kindOf(app), id, value }, 0);
  return (await engine.ledger.items.get(kindOf(app), id)) ?? { kind: kindOf(app), id, value, version: 1 };
}

/** Sends stored text as soon as the session is free. If another process sends it too, both get the same run. */
export async function sendFollowUp(
  run: RunContext,
  item: StoredItem,
  say: SendFollowUp,
): Promise<Submission> {
  for (;;) {
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    const forget = run.engine.ledger.onChange(resolve);
    try {
      const said = await sayNow(run, item, say);
      if (said !== undefined) return said;
      await unlessClosed(run.closing, changed);
    } finally {
      forget();
    }
  }
}

/**
 * Sends stored text of dead processes. Does not wait for busy sessions, because the current round of work may be what
 * frees them. If one fails, it stays stored, and the others continue.
 */
export async function sendWaitingFollowUps(run: RunContext, say: SendFollowUp): Promise<void> {
  const { ledger } = run.engine;
  const failures: unknown[] = [];
  for await (const item of eachOf((page) => ledger.items.list(kindOf(run.app), page))) {
    const { sessionKey, invocation } = wordsOf(item.value);
    const { state } = await activityOf(ledger, sessionKey, invocation);
    if (state === "active") continue;
    await sayNow(run, item, say).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Undefined if the session is busy. Text that can never be sent is dropped; after any other failure it stays stored.
 */
async function sayNow(run: RunContext, item: StoredItem, say: SendFollowUp): Promise<Submission | undefined> {
  const { app, engine } = run;
  const once = { principal: "follow-up", route: app, key: item.id, requestDigest: item.id };
  try {
    const said = await say(wordsOf(item.value), once);
    await engine.ledger.items.remove(item);
    return said;
  } catch (error) {
    const code = CountersignError.isInstance(error) ? error.code : undefined;
    if (code === "session-busy") return undefined;
    if (code === "session-deleted") await engine.ledger.items.remove(item);
    throw error;
  }
}

function kindOf(app: string): string {
  return `follow-up:${app}`;
}

// Written only by this runtime.
function wordsOf(value: JsonValue): FollowUp {
  if (isJsonObject(value)) return value as JsonObject & FollowUp;
  throw new CountersignError("internal", "A stored follow-up message cannot be read.");
}
