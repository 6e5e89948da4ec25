import type { OpenAPIHono } from "@hono/zod-openapi";
import type { HttpEnv } from "../env.ts";
import { heldToLogin } from "../held-to-login.ts";
import type { Site } from "../site.ts";
import { serveAdk } from "./document.ts";
import { reportFault, toAdkError } from "./errors.ts";
import { readBody } from "./read-body.ts";
import { eventSchema, runSchema } from "./schemas.ts";
import { toSse } from "./sse.ts";
import { eventsOf, prepareRun } from "./start-run.ts";
import { toSseChunk } from "./wire.ts";

/** A message in, its events out as they happen. */
export function serveRunSse(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  const route = {
    method: "post",
    path: "/run_sse",
    summary: "The same as /run, as a stream of events. Refusals are events in the stream.",
    body: runSchema,
    keyed: true,
    answer: { schema: eventSchema, type: "text/event-stream" },
  } as const;
  serveAdk(routes, route, async (context) => {
    const body = await readBody(context, runSchema);
    const prepared = await prepareRun(site, context, body);
    const events = eventsOf(site, prepared, body.streaming === true);
    const lastWords = (error: unknown): string => {
      reportFault(site, error, context.get("requestId"));
      return toSseChunk(toAdkError(site, error));
    };
    const response = new Response(toSse(events, lastWords), {
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
      },
    });
    return heldToLogin(site, context, response);
  });
}
