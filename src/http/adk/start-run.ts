import type { Context } from "hono";
import {
  checkSessionName,
  type IdempotentRequest,
  type Ledger,
  type Principal,
  type SessionRecord,
} from "../../engine/index.ts";
import {
  CountersignError,
  type Event,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  member,
  parseEnvelope,
} from "../../protocol/index.ts";
import { ReadMessage, type Runner, redactCalls } from "../../runtime/index.ts";
import type { HttpEnv } from "../env.ts";
import { onceOf } from "../idempotency/once.ts";
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
  readonly message: ReadMessage;
  readonly ledger: Ledger;
  readonly once: IdempotentRequest | undefined;
  readonly headers: Headers;
}

/** Finds the session and the speaker; a refusal here has an HTTP status on both routes. */
export async function prepareRun(
  site: Site,
  context: Context<HttpEnv>,
  body: RunBody,
  admitted?: Admitted,
): Promise<PreparedRun> {
  const { appName = "", userId = "", sessionId = "undefined" } = body;
  const { by, message } = admitted ?? (await admit(site, context, body));
  const runner = servedHere(site, appName, sessionId);
  const ledger = await site.ledger();
  const name = { app: appName, user: userId, id: sessionId };
  checkSessionName(name);
  const session = (await ledger.load({ session: name }))?.session;
  if (session === undefined || session.deletedAt !== undefined) throw noSession(sessionId);
  const once = onceOf(context, { route: "adk.run", ledger, body: body as JsonObject });
  return { body, runner, session, by, message, ledger, once, headers: context.req.raw.headers };
}

/** Who speaks, and what they say. */
type Admitted = Pick<PreparedRun, "by" | "message">;

/** Reads the message and the speaker; throws if it would be refused for any session. Writes nothing. */
export async function admit(site: Site, context: Context<HttpEnv>, body: RunBody): Promise<Admitted> {
  const caller = context.get("principal");
  const message = new ReadMessage(body.newMessage);
  const by = await speakerFor(site, caller, { user: body.userId ?? "", message });
  checkAppState(caller, body.stateDelta, "stateDelta");
  return { by, message };
}

/** The run's events in wire form. The run continues if the listener stops. */
export async function* eventsOf(site: Site, run: PreparedRun, streaming: boolean): AsyncGenerator<Event> {
  const { body, session, by, message, once, ledger } = run;
  if (body.newMessage === undefined || body.newMessage === null) return;
  checkMessage(body.newMessage, message);
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
    // Clients know this sentence; the reason is added to it.
    throw new CountersignError("unknown-app", `Session not found: ${sessionId}`, {
      details: { field: "appName", hint: error.message },
      cause: error,
    });
  }
}

// Answers are judged one by one, and each can be refused alone; any other message must be valid as a whole.
function checkMessage(value: unknown, { answers }: ReadMessage): void {
  const parts = isJsonObject(value) ? member(value, "parts") : undefined;
  if (isJsonArray(parts) && parts.length === 0) {
    const details = { field: "newMessage.parts" };
    throw new CountersignError("malformed-request", "No parts in the newMessage.", { details });
  }
  if (answers) return;
  const content = parseEnvelope(value, "newMessage");
  if (content.ok) return;
  throw new CountersignError(content.code, content.message, { details: { field: content.path } });
}
