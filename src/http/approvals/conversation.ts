import { type CallRecord, type FrameRecord, type Ledger, redact } from "../../engine/index.ts";
import {
  type Imported,
  isJsonArray,
  isJsonObject,
  type JsonValue,
  type StoredEvent,
} from "../../protocol/index.ts";
import { isVisible } from "../../runtime/index.ts";
import { hideSecrets } from "./hide-secrets.ts";

const LOOK_BACK = 400;
const LOOK_BACK_BYTES = 2_000_000;
// Calls whose arguments are held at a time, to find their secrets.
const CALLS_AT_ONCE = 10;
const MOST_MESSAGES = 20;
const LONGEST_TEXT = 4_000;

/** One thing that was said. */
export interface Message {
  readonly author: string;
  readonly at: string;
  readonly text: string;
  /** Imported: the person that it names may not have said it. */
  readonly imported?: Imported;
}

/**
 * The last messages before a call, as texts: no calls, no results, no confirmation traffic, and without the values of
 * secrets that the session's calls declared. Empty if the call is too far back in a long session.
 */
export async function conversationBefore(
  ledger: Pick<Ledger, "events" | "calls">,
  call: CallRecord,
  frame: Pick<FrameRecord, "branch"> | undefined,
): Promise<readonly Message[]> {
  const events = await ledger.events(call.session, { last: LOOK_BACK, bytes: LOOK_BACK_BYTES });
  const asked = events.findLastIndex(
    (event) => event.imported === undefined && callIds(event).includes(call.wireId),
  );
  if (asked === -1) return [];
  // The event that makes the call may say why; it is part of what led there.
  const before = events.slice(0, asked + 1).filter((event) => leadsTo(event, frame?.branch));
  const secrets = await secretsIn(ledger, call.session, events);
  return before
    .map((event) => ({ event, text: textOf(event) }))
    .filter(({ text }) => text !== "")
    .slice(-MOST_MESSAGES)
    .map(({ event: { author, timestamp, imported }, text }) => ({
      author,
      at: new Date(timestamp).toISOString(),
      text: hideSecrets(text, secrets, LONGEST_TEXT),
      ...(imported === undefined ? {} : { imported }),
    }));
}

function callIds({ content }: StoredEvent): readonly string[] {
  return (content?.parts ?? []).flatMap(({ functionCall }) => functionCall?.id ?? []);
}

// Messages to a sibling agent are another conversation; but the approver sees everything that the model reads.
function leadsTo(event: StoredEvent, here = ""): boolean {
  const { branch, partial } = event;
  if (partial === true) return false;
  return branch === undefined || here.startsWith(`${branch}.`) || isVisible(event, here);
}

// Only a model of ours may mark text as a thought. Otherwise text from others could be hidden from the approver.
function textOf({ content, author, imported }: StoredEvent): string {
  const isModels = author !== "user" && imported === undefined;
  return (content?.parts ?? [])
    .flatMap(({ text, thought }) =>
      typeof text === "string" && !(isModels && thought === true) ? [text] : [],
    )
    .join("\n")
    .trim();
}

async function secretsIn(
  ledger: Pick<Ledger, "calls">,
  session: string,
  events: readonly StoredEvent[],
): Promise<readonly string[]> {
  const ids = events.flatMap(callIds).map((wireId) => `${session}.${wireId}`);
  const found: string[] = [];
  for (let start = 0; start < ids.length; start += CALLS_AT_ONCE) {
    const calls = await ledger.calls(ids.slice(start, start + CALLS_AT_ONCE));
    for (const { args, originalArgs, secrets } of calls) {
      if (secrets.length === 0) continue;
      for (const given of [args, originalArgs ?? {}]) found.push(...differing(given, redact(given, secrets)));
    }
  }
  return found;
}

/** The scalars of a value that its redacted copy does not have. */
function differing(value: JsonValue, redacted: JsonValue | undefined): readonly string[] {
  if (isJsonArray(value)) {
    return value.flatMap((item, i) => differing(item, isJsonArray(redacted) ? redacted[i] : undefined));
  }
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([key, item]) =>
      differing(item, isJsonObject(redacted) ? redacted[key] : undefined),
    );
  }
  return value === redacted || value === null || typeof value === "boolean" ? [] : [String(value)];
}
