import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { CountersignError, type ErrorCode, type Event, type JsonObject } from "../../protocol/index.ts";
import { actingFor } from "../acting-for.ts";
import type { HttpEnv } from "../env.ts";
import { onceOf } from "../idempotency/once.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { serveAdk } from "./document.ts";
import { readBody, toBody } from "./read-body.ts";
import { eventSchema, type RunBody, reasoningSchema, runSchema } from "./schemas.ts";
import { admit, eventsOf, prepareRun } from "./start-run.ts";

/** `/run` as Vertex AI's clients wrap it; creates the session if there is none. */
export function serveReasoningEngine(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  const route = {
    method: "post",
    path: "/api/reasoning_engine",
    summary: "The same as /run, wrapped. The session is created if it does not exist.",
    body: reasoningSchema,
    keyed: true,
    answer: { schema: z.object({ output: z.array(eventSchema) }) },
  } as const;
  serveAdk(routes, route, async (context) => {
    requireScope(context, "run");
    const { input } = await readBody(context, reasoningSchema);
    const body = toBody(input, runSchema, "input");
    const { appName, userId = "" } = body;
    if (appName === undefined) {
      const code: ErrorCode = "malformed-request";
      return context.json({ error: "appName is required in input", code }, 400);
    }
    actingFor(context.get("principal"), userId);
    // A refused request must not leave a session behind.
    const admitted = await admit(site, context, body);
    const sessionId = await madeSession(site, context, body);
    const run = await prepareRun(site, context, { ...body, sessionId }, admitted);
    const output: Event[] = [];
    for await (const event of eventsOf(site, run, false)) output.push(event);
    return context.json({ output });
  });
}

/** The id of the message's session; created if missing. With the same key it is the same session. */
async function madeSession(site: Site, context: Context<HttpEnv>, body: RunBody): Promise<string> {
  const { appName = "", userId = "", sessionId } = body;
  const { sessionService } = site.runner(appName);
  if (sessionId === undefined) {
    const ledger = await site.ledger();
    const once = onceOf(context, { route: "adk.reasoning_engine", ledger, body: body as JsonObject });
    return (await sessionService.createSession({ userId, ...(once === undefined ? {} : { once }) })).id;
  }
  try {
    await sessionService.createSession({ userId, sessionId });
  } catch (error) {
    if (!CountersignError.isInstance(error) || error.code !== "session-exists") throw error;
  }
  return sessionId;
}
