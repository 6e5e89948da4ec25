import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Ledger } from "../../engine/index.ts";
import { type Event, encodeEvent } from "../../protocol/index.ts";
import { type RunEvent, redactCalls } from "../../runtime/index.ts";
import { actingFor } from "../acting-for.ts";
import type { HttpEnv } from "../env.ts";
import type { FeedStream } from "../feed/feed-stream.ts";
import { OpenStreams } from "../feed/open-streams.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { serveAdk } from "./document.ts";
import { noSession, reportFault, toAdkError, withLink } from "./errors.ts";
import { eventSchema, sessionPath } from "./schemas.ts";
import { sessionIn } from "./sessions.ts";
import { toAdkEvent, toSseChunk } from "./wire.ts";

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/**
 * What agents say in a session whose run goes on without a message: after a decision, in this process or another. Text
 * that this process's model writes comes in pieces. The stream waits with the run for people, and ends when it ends,
 * when the reader's login does, or when it is as old as a stream may be.
 */
export function serveFollow(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  const route = {
    method: "get",
    path: "/apps/{app}/users/{user}/sessions/{session}/stream",
    params: sessionPath,
    summary: "Follow the run of a session until it ends. Not in the ADK.",
    answer: { schema: eventSchema, type: "text/event-stream" },
  } as const;
  const streams = new OpenStreams(site.feed);
  serveAdk(routes, route, async (context) => {
    requireScope(context, "read");
    const name = sessionIn(context);
    actingFor(context.get("principal"), name.user);
    const ledger = await site.ledger();
    const session = site.appNames.includes(name.app)
      ? (await ledger.load({ session: name }))?.session
      : undefined;
    if (session === undefined || session.deletedAt !== undefined) throw noSession(name.id);
    // For a HEAD request nobody would read or close it.
    if (context.req.method === "HEAD") return new Response(null, { headers: HEADERS });
    // Whatever ran last in it: a run that is over has nothing to follow.
    const [last] = await ledger.events(session.key, { last: 1 });
    const started = {
      session: session.key,
      invocation: last?.invocationId ?? "",
      after: session.nextSeq - 1,
    };
    const { raw } = context.req;
    const left = new AbortController();
    const stream = streams.open({
      viewer: context.get("principal"),
      recognise: () => site.auth.authenticate(raw),
      onEnd: () => left.abort(),
    });
    const signal = AbortSignal.any([site.closing, raw.signal, left.signal]);
    const watched = site.runner(name.app).watch({ ...started, streaming: true, untilEnded: true, signal });
    const events = told(site, { ledger, key: session.key, events: watched });
    const lastWords = (error: unknown): string => {
      reportFault(site, error, context.get("requestId"));
      return toSseChunk(toAdkError(site, error));
    };
    const failed = (error: unknown): void => {
      site.log.warn({ err: error }, "a session's stream ended early");
      stream.end();
    };
    const check = (): void => void streams.check(stream).catch(failed);
    const checks = setInterval(check, site.feed.heartbeatMs).unref();
    sendAll(stream, events, lastWords)
      .finally(() => clearInterval(checks))
      .catch(failed);
    return new Response(stream.body, { headers: HEADERS });
  });
}

/** Sends as it comes: a reader that does not keep up is disconnected. */
async function sendAll(
  stream: FeedStream,
  events: AsyncGenerator<Event>,
  lastWords: (error: unknown) => string,
): Promise<void> {
  try {
    for await (const event of events) {
      if (!stream.isOpen) return;
      stream.send(toSseChunk(event));
    }
  } catch (error) {
    if (stream.isOpen) stream.send(lastWords(error));
  } finally {
    stream.end();
  }
}

async function* told(
  site: Site,
  run: { readonly ledger: Ledger; readonly key: string; readonly events: AsyncGenerator<RunEvent> },
): AsyncGenerator<Event> {
  for await (const found of run.events) {
    if (found.kind === "progress" || found.event.author === "user") continue;
    const event = encodeEvent(found.event, "adk");
    const [shown = event] = await redactCalls(run.ledger, run.key, [event]);
    yield toAdkEvent(withLink(site, shown));
  }
}
