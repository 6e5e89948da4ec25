import {
  type Asker,
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

/** Words that stood beside answers, and the run after which they are to be said. */
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

/** Says words as the user's message, under a key that lets them be said once. */
export type SendFollowUp = (words: FollowUp, once: IdempotentRequest) => Promise<Submission>;

/** Where words wait: told to whoever sent them only after this, so that no crash loses what was taken. */
export async function storeFollowUp(
  run: RunContext,
  words: FollowUp,
  once: IdempotentRequest | undefined,
): Promise<StoredItem> {
  const { app, engine } = run;
  // Sent again under its own key, it is the same item.
  const id = once === undefined ? run.newId() : valueDigest(engine.ledger.digestKey, { ...once });
  const value = JSON.parse(JSON.stringify(words)) as JsonObject;
  await engine.ledger.putItem({ kind: kindOf(app), id, value }, 0);
  return (await engine.ledger.item(kindOf(app), id)) ?? { kind: kindOf(app), id, value, version: 1 };
}

/** Says what was kept, as soon as the session has time for it. Whoever else says it too is told of the same run. */
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
 * Says what processes that are gone have left unsaid. Waits for no session: the round of work that asks for this may
 * be what would set it free. One that fails stays kept, and keeps none of the others back.
 */
export async function sendWaitingFollowUps(run: RunContext, say: SendFollowUp): Promise<void> {
  const { ledger } = run.engine;
  const failures: unknown[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await ledger.items(kindOf(run.app), cursor === undefined ? {} : { cursor });
    for (const item of page.items) {
      const { sessionKey, invocation } = wordsOf(item.value);
      const { state } = await activityOf(ledger, sessionKey, invocation);
      if (state === "active") continue;
      await sayNow(run, item, say).catch((error: unknown) => failures.push(error));
    }
    if (page.next === undefined) break;
    cursor = page.next;
  }
  if (failures.length > 0) throw failures[0];
}

/** Undefined if the session is busy. Only what can never be said is given up; all else that fails stays kept. */
async function sayNow(run: RunContext, item: StoredItem, say: SendFollowUp): Promise<Submission | undefined> {
  const { app, engine } = run;
  const once = { principal: "follow-up", route: app, key: item.id, requestDigest: item.id };
  try {
    const said = await say(wordsOf(item.value), once);
    await engine.ledger.removeItem(item);
    return said;
  } catch (error) {
    const code = CountersignError.isInstance(error) ? error.code : undefined;
    if (code === "session-busy") return undefined;
    if (code === "session-deleted") await engine.ledger.removeItem(item);
    throw error;
  }
}

function kindOf(app: string): string {
  return `follow-up:${app}`;
}

// Written by this runtime and by nobody else.
function wordsOf(value: JsonValue): FollowUp {
  if (isJsonObject(value)) return value as JsonObject & FollowUp;
  throw new CountersignError("internal", "A stored follow-up message cannot be read.");
}
