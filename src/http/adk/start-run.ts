import type { Context } from "hono";
import {
  checkSessionName,
  type Ledger,
  type Once,
  type Principal,
  type SessionRecord,
} from "../../engine/index.ts";
import {
  type Content,
  CountersignError,
  decodeAnswers,
  type Event,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  member,
  parseContent,
} from "../../protocol/index.ts";
import { type Runner, redactCalls } from "../../runtime/index.ts";
import type { HttpEnv } from "../env.ts";
import { onceOf } from "../once.ts";
import type { Site } from "../site.ts";
import { checkAppState } from "./app-state.ts";
import { noSession, withLink } from "./errors.ts";
import type { RunBody } from "./schemas.ts";
import { speakerFor } from "./speaker.ts";
import { toAdkEvent } from "./wire.ts";

/** A message for a session that exists, by somebody who may speak in it. */
export interface PreparedRun {
  readonly body: RunBody;
  readonly runner: Runner;
  readonly session: SessionRecord;
  readonly by: Principal;
  readonly ledger: Ledger;
  readonly once: Once | undefined;
  readonly headers: Headers;
}

/** Finds the session and whoever speaks; what is refused here has a status of its own on both routes. */
export async function prepareRun(site: Site, context: Context<HttpEnv>, body: RunBody): Promise<PreparedRun> {
  const { appName = "", userId = "", sessionId = "undefined" } = body;
  const by = await admit(site, context, body);
  const runner = servedHere(site, appName, sessionId);
  const ledger = await site.ledger();
  const name = { app: appName, user: userId, id: sessionId };
  checkSessionName(name);
  const session = (await ledger.load({ session: name }))?.session;
  if (session === undefined || session.deletedAt !== undefined) throw noSession(sessionId);
  const once = onceOf(context, { route: "adk.run", ledger, body: body as JsonObject });
  return { body, runner, session, by, ledger, once, headers: context.req.raw.headers };
}

/** Who speaks; throws for what is refused whatever session it is for. Nothing was written. */
export async function admit(site: Site, context: Context<HttpEnv>, body: RunBody): Promise<Principal> {
  const caller = context.get("principal");
  const by = await speakerFor(site, caller, { user: body.userId ?? "", message: body.newMessage });
  checkAppState(caller, body.stateDelta, "stateDelta");
  return by;
}

/** The run's events as they leave. Whoever stops listening stops nothing. */
export async function* eventsOf(site: Site, run: PreparedRun, streaming: boolean): AsyncGenerator<Event> {
  const { body, session, by, once, ledger } = run;
  const message = readMessage(body.newMessage);
  if (message === undefined) return;
  const { stateDelta, invocationId, wire } = body;
  const events = run.runner.run({
    userId: session.user,
    sessionId: session.id,
    message,
    by,
    via: "adk",
    requestHeaders: run.headers,
    streaming,
    ...(stateDelta ? { stateDelta: stateDelta as JsonObject } : {}),
    ...(invocationId ? { invocationId } : {}),
    ...(wire ? { wire } : {}),
    ...(once === undefined ? {} : { once }),
  });
  for await (const event of events) {
    const [shown = event] = await redactCalls(ledger, session.key, [event]);
    yield toAdkEvent(withLink(site, shown));
  }
}

function servedHere(site: Site, app: string, sessionId: string): Runner {
  try {
    return site.runner(app);
  } catch (error) {
    if (!CountersignError.isInstance(error) || error.code !== "unknown-app") throw error;
    // Clients know this sentence; why it is so stands beside it.
    throw new CountersignError("unknown-app", `Session not found: ${sessionId}`, {
      details: { field: "appName", hint: error.message },
      cause: error,
    });
  }
}

// Answers are taken apart part by part, each refused alone; anything else is read as a whole.
function readMessage(value: unknown): Content | undefined {
  if (value === undefined || value === null) return undefined;
  const parts = isJsonObject(value) ? member(value, "parts") : undefined;
  if (isJsonArray(parts) && parts.length === 0) {
    const details = { field: "newMessage.parts" };
    throw new CountersignError("malformed-request", "No parts in the newMessage.", { details });
  }
  const { decisions, refused, warnings } = decodeAnswers(value);
  if (decisions.length + refused.length + warnings.length > 0) return value as Content;
  const content = parseContent(value, "newMessage");
  if (content.ok) return content.value;
  throw new CountersignError(content.code, content.message, { details: { field: content.path } });
}
