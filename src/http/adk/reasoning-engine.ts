import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { CountersignError, type ErrorCode, type Event } from "../../protocol/index.ts";
import { actingFor } from "../acting-for.ts";
import type { HttpEnv } from "../env.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { serveAdk } from "./document.ts";
import { readBody, toBody } from "./read-body.ts";
import { eventSchema, reasoningSchema, runSchema } from "./schemas.ts";
import { eventsOf, prepareRun } from "./start-run.ts";

/** `/run` as Vertex AI's clients wrap it; the session is made if there is none. */
export function serveReasoningEngine(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  const route = {
    method: "post",
    path: "/api/reasoning_engine",
    summary: "The same as /run, wrapped; the session is made if there is none.",
    body: reasoningSchema,
    keyed: true,
    answer: { schema: z.object({ output: z.array(eventSchema) }) },
  } as const;
  serveAdk(routes, route, async (context) => {
    requireScope(context, "run");
    const { input } = await readBody(context, reasoningSchema);
    const { sessionId = crypto.randomUUID(), ...body } = toBody(input, runSchema, "input");
    const { appName, userId = "" } = body;
    if (appName === undefined) {
      const code: ErrorCode = "malformed-request";
      return context.json({ error: "appName is required in input", code }, 400);
    }
    actingFor(context.get("principal"), userId);
    await makeSession(site, { appName, userId, sessionId });
    const run = await prepareRun(site, context, { ...body, sessionId });
    const output: Event[] = [];
    for await (const event of eventsOf(site, run, false)) output.push(event);
    return context.json({ output });
  });
}

async function makeSession(
  site: Site,
  { appName, ...named }: { readonly appName: string; readonly userId: string; readonly sessionId: string },
): Promise<void> {
  try {
    await site.runner(appName).sessionService.createSession(named);
  } catch (error) {
    if (!CountersignError.isInstance(error) || error.code !== "session-exists") throw error;
  }
}
