import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { checkSessionName, type SessionName } from "../../engine/index.ts";
import { CountersignError, type Event, type JsonObject, parseEvent } from "../../protocol/index.ts";
import { redactCalls, type Session } from "../../runtime/index.ts";
import { actingFor } from "../acting-for.ts";
import type { HttpEnv } from "../env.ts";
import { onceOf } from "../idempotency/once.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { checkAppState } from "./app-state.ts";
import { type AdkRoute, serveAdk } from "./document.ts";
import { noSession } from "./errors.ts";
import { readBody, readOptionalBody } from "./read-body.ts";
import {
  listedSessionSchema,
  listQuery,
  newSessionSchema,
  sessionChangeSchema,
  sessionPath,
  sessionSchema,
  userPath,
} from "./schemas.ts";
import { toAdkSession } from "./wire.ts";

const SESSIONS = "/apps/{app}/users/{user}/sessions";
const SESSION = `${SESSIONS}/{session}`;
/** The most that the states in a list may take. The ADK's list has no pages. */
const LISTED_STATE_BYTES = 4_000_000;
/** Of how many sessions a list has the titles, if it is asked for them. */
const LISTED_TITLES = 100;

/** The ADK's session routes. */
export function serveSessions(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  for (const [route, handle] of SESSION_ROUTES) {
    serveAdk(routes, route, async (context) => handle(site, context));
  }
}

type Handler = (site: Site, context: Context<HttpEnv>) => Promise<Response>;

const MADE = { schema: sessionSchema };
const CREATE = {
  method: "post",
  body: newSessionSchema,
  bodyOptional: true,
  keyed: true,
  answer: MADE,
} as const;

const SESSION_ROUTES: readonly (readonly [AdkRoute, Handler])[] = [
  [{ ...CREATE, path: SESSIONS, params: userPath, summary: "Create a session." }, createSession],
  [
    { ...CREATE, path: SESSION, params: sessionPath, summary: "Create a session with this id." },
    createSession,
  ],
  [
    {
      method: "get",
      path: SESSIONS,
      params: userPath,
      query: listQuery,
      summary: "A user's sessions, without their events; with the states of the newest, up to 4 MB.",
      answer: { schema: z.array(listedSessionSchema) },
    },
    listSessions,
  ],
  [
    {
      method: "get",
      path: SESSION,
      params: sessionPath,
      summary: "A session with all its events.",
      answer: MADE,
    },
    getSession,
  ],
  [
    {
      method: "patch",
      path: SESSION,
      params: sessionPath,
      summary: "Change a session's state.",
      body: sessionChangeSchema,
      keyed: true,
      answer: MADE,
    },
    changeSession,
  ],
  [
    {
      method: "delete",
      path: SESSION,
      params: sessionPath,
      summary: "Delete a session: open questions are withdrawn and its content is erased.",
      keyed: true,
      answer: { status: 204 },
    },
    deleteSession,
  ],
];

/** The session that an address names. Throws `malformed-request` if there can be none of that name. */
export function sessionIn(context: Context<HttpEnv>): SessionName {
  const { app = "", user = "", session = "" } = context.req.param();
  const name = { app, user, id: session };
  checkSessionName(name);
  return name;
}

/** A session as its user may see it; throws where there is none. Needs the scope `read`. */
export async function readSession(site: Site, context: Context<HttpEnv>): Promise<Session> {
  requireScope(context, "read");
  const name = sessionIn(context);
  actingFor(context.get("principal"), name.user);
  const session = site.appNames.includes(name.app)
    ? await site.runner(name.app).sessionService.getSession({ userId: name.user, sessionId: name.id })
    : undefined;
  if (session === undefined) throw noSession(name.id);
  return shown(site, name, session);
}

async function createSession(site: Site, context: Context<HttpEnv>): Promise<Response> {
  requireScope(context, "run");
  const { app, user, id } = sessionIn(context);
  actingFor(context.get("principal"), user);
  const { sessionService } = appIn(site, app);
  const body = await readOptionalBody(context, newSessionSchema);
  checkAppState(context.get("principal"), body.state, "state");
  const sessionId = id || body.sessionId;
  const ledger = await site.ledger();
  const request = { app, user, id, body: body as JsonObject };
  const once = onceOf(context, { route: "adk.sessions", ledger, body: request });
  const session = await sessionService
    .createSession({
      userId: user,
      ...(sessionId ? { sessionId } : {}),
      ...(body.state ? { state: body.state as JsonObject } : {}),
      ...(body.events ? { events: body.events.map(toEvent).filter(({ partial }) => partial !== true) } : {}),
      by: context.get("principal"),
      ...(once === undefined ? {} : { once }),
    })
    .catch(inAdkWords(sessionId ?? ""));
  return context.json(toAdkSession(await shown(site, { app, user, id: session.id }, session)));
}

async function listSessions(site: Site, context: Context<HttpEnv>): Promise<Response> {
  requireScope(context, "read");
  const { app, user } = sessionIn(context);
  actingFor(context.get("principal"), user);
  if (!site.appNames.includes(app)) return context.json([]);
  const { sessionService } = site.runner(app);
  const sessions = await sessionService.listSessions({
    userId: user,
    stateBytes: LISTED_STATE_BYTES,
    // Clients of the ADK refuse members that they do not know.
    titles: context.req.query("titles") === "true" ? LISTED_TITLES : 0,
  });
  return context.json(sessions.map(toAdkSession));
}

async function getSession(site: Site, context: Context<HttpEnv>): Promise<Response> {
  return context.json(toAdkSession(await readSession(site, context)));
}

async function changeSession(site: Site, context: Context<HttpEnv>): Promise<Response> {
  requireScope(context, "run");
  const name = sessionIn(context);
  actingFor(context.get("principal"), name.user);
  const body = await readBody(context, sessionChangeSchema);
  checkAppState(context.get("principal"), body.stateDelta, "stateDelta");
  if (!site.appNames.includes(name.app)) throw noSession(name.id);
  const stateDelta = (body.stateDelta ?? {}) as JsonObject;
  const request = { ...name, stateDelta };
  const once = onceOf(context, { route: "adk.sessions.change", ledger: await site.ledger(), body: request });
  const session = await site
    .runner(name.app)
    .sessionService.updateSession({
      userId: name.user,
      sessionId: name.id,
      stateDelta,
      ...(once === undefined ? {} : { once }),
    })
    .catch(inAdkWords(name.id));
  return context.json(toAdkSession(await shown(site, name, session)));
}

async function deleteSession(site: Site, context: Context<HttpEnv>): Promise<Response> {
  requireScope(context, "run");
  const { app, user, id } = sessionIn(context);
  const by = actingFor(context.get("principal"), user);
  if (!site.appNames.includes(app)) throw noSession(id);
  const request = { app, user, id };
  const once = onceOf(context, { route: "adk.sessions.delete", ledger: await site.ledger(), body: request });
  await site
    .runner(app)
    .sessionService.deleteSession({
      userId: user,
      sessionId: id,
      by,
      ...(once === undefined ? {} : { once }),
    })
    .catch(inAdkWords(id));
  return new Response(null, { status: 204 });
}

function appIn(site: Site, app: string): ReturnType<Site["runner"]> {
  if (site.appNames.includes(app)) return site.runner(app);
  throw new CountersignError("unknown-app", `App not found: ${app}`, {
    details: { hint: `Available apps: ${site.appNames.join(", ")}.` },
  });
}

// The texts that ADK clients know; for a deleted session we use our own.
function inAdkWords(id: string): (error: unknown) => never {
  return (error) => {
    switch (CountersignError.isInstance(error) ? error.code : undefined) {
      case "unknown-session":
        throw id === "" ? error : noSession(id);
      case "session-exists":
        throw new CountersignError("session-exists", `Session already exists: ${id}`);
      case "session-deleted":
        throw new CountersignError("session-exists", (error as CountersignError).message);
      default:
        throw error;
    }
  };
}

async function shown(site: Site, name: SessionName, session: Session): Promise<Session> {
  if (session.events.length === 0) return session;
  const ledger = await site.ledger();
  const key = (await ledger.load({ session: name }))?.session.key;
  return key === undefined ? session : { ...session, events: await redactCalls(ledger, key, session.events) };
}

// Members that an exported conversation leaves out get a neutral value.
function toEvent(value: JsonObject | { readonly [name: string]: unknown }, index: number): Event {
  const unsaid = { id: crypto.randomUUID(), invocationId: "imported", author: "user", timestamp: 0 };
  const given = Object.entries(value).filter(([, member]) => member !== null);
  const names = new Set(given.map(([name]) => name));
  const missing = Object.entries(unsaid).filter(
    ([name]) => !(names.has(name) || (name === "invocationId" && names.has("invocation_id"))),
  );
  const event = parseEvent(Object.fromEntries([...given, ...missing]), `events[${index}]`);
  if (event.ok) return event.value;
  throw new CountersignError(event.code, event.message, { details: { field: event.path } });
}
