import type { Context } from "hono";
import {
  checkSessionName,
  type IdempotentRequest,
  type Ledger,
  type Principal,
  type SessionName,
} from "../../engine/index.ts";
import type { Event, JsonValue, Part } from "../../protocol/index.ts";
import { ReadMessage, type Runner, redactCalls } from "../../runtime/index.ts";
import { noSession } from "../adk/errors.ts";
import { noteRefused, speakerFor } from "../adk/speaker.ts";
import type { HttpEnv } from "../env.ts";
import { onceOf } from "../idempotency/once.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import type { Run } from "./events.ts";
import { type NewInput, readInput } from "./read-input.ts";
import type { AguiInput } from "./schemas.ts";

const VIA = "agui";
/** How far back a message is looked for that the client sends again. */
const RECENT_EVENTS = 100;

/** A run of the caller's own session, and what is new in it. */
export interface PreparedRun {
  readonly run: Run;
  readonly name: SessionName;
  readonly by: Principal;
  readonly ledger: Ledger;
  /** The run's events; undefined if there is nothing new. */
  readonly events?: AsyncGenerator<Event>;
}

/**
 * Reads what is new, and checks that the caller may send it. A refusal here has an HTTP status. The session is always
 * the caller's own: a thread of the same name that belongs to somebody else is another session.
 */
export async function prepareRun(
  site: Site,
  context: Context<HttpEnv>,
  { app, input }: { readonly app: string; readonly input: AguiInput },
): Promise<PreparedRun> {
  const { threadId, runId } = input;
  const by = context.get("principal");
  const name = { app, user: by.id, id: threadId };
  const said = readInput(input);
  await checkSpeaker(site, context, said);
  const runner = site.runner(app);
  checkSessionName(name);
  const ledger = await site.ledger();
  const prepared = { run: { threadId, runId }, name, by, ledger };
  const parts = await newParts(site, prepared, said);
  if (parts.length === 0) return prepared;
  // A decision that is repeated has no further effect; words would be said twice.
  const hasWords = parts.length > said.answers.length;
  const once = onceOf(context, {
    route: "agui.run",
    ledger,
    body: { name, parts } as unknown as JsonValue,
    ...(hasWords ? { ownKey: JSON.stringify([app, threadId, runId]) } : {}),
  });
  const message = new ReadMessage({ role: "user", parts });
  const request = { name, message, by, once, headers: context.req.raw.headers };
  return { ...prepared, events: eventsOf(runner, ledger, request) };
}

// Nothing new: the caller only looks.
async function checkSpeaker(site: Site, context: Context<HttpEnv>, said: NewInput): Promise<void> {
  const parts = [...said.answers, ...said.text];
  if (parts.length === 0) {
    requireScope(context, "read");
    return;
  }
  const by = context.get("principal");
  const message = new ReadMessage({ role: "user", parts });
  await speakerFor(site, by, { user: by.id, message, via: VIA });
}

/** The parts that the session does not have yet. Answers need a session; text creates one. */
async function newParts(
  site: Site,
  { ledger, name, by }: PreparedRun,
  { text, answers, messageId }: NewInput,
): Promise<readonly Part[]> {
  const session = (await ledger.load({ session: name }))?.session;
  if (session === undefined || session.deletedAt !== undefined) {
    if (answers.length === 0) return text;
    const { decisions } = new ReadMessage({ role: "user", parts: answers });
    await noteRefused(site, decisions, { code: "unknown-session", by, via: VIA });
    throw noSession(name.id);
  }
  if (text.length === 0) return answers;
  const leave = await site.turns.take(by);
  try {
    const recent = await ledger.events(session.key, { last: RECENT_EVENTS });
    const isKnown = recent.some(({ id }) => id === messageId);
    return [...answers, ...(isKnown ? [] : text)];
  } finally {
    leave();
  }
}

async function* eventsOf(
  runner: Runner,
  ledger: Ledger,
  {
    name,
    message,
    by,
    once,
    headers,
  }: {
    readonly name: SessionName;
    readonly message: ReadMessage;
    readonly by: Principal;
    readonly once: IdempotentRequest | undefined;
    readonly headers: Headers;
  },
): AsyncGenerator<Event> {
  const events = runner.run({
    userId: name.user,
    sessionId: name.id,
    message,
    by,
    via: VIA,
    requestHeaders: headers,
    streaming: true,
    wire: "adk",
    ...(once === undefined ? {} : { once }),
  });
  let key: string | undefined;
  for await (const event of events) {
    // The first message creates the session.
    key ??= (await ledger.load({ session: name }))?.session.key ?? "";
    const [shown = event] = await redactCalls(ledger, key, [event]);
    yield shown;
  }
}
