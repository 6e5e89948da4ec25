import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Event } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import type { Site } from "../site.ts";
import { serveAdk } from "./document.ts";
import { adkErrorResponse, reportFault } from "./errors.ts";
import { readBody } from "./read-body.ts";
import { eventSchema, runSchema } from "./schemas.ts";
import { eventsOf, prepareRun } from "./start-run.ts";

/** A message in, all its events out at once. */
export function serveRun(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  const route = {
    method: "post",
    path: "/run",
    summary: "Send a message to an agent, or answer its confirmations, and wait for the events.",
    body: runSchema,
    keyed: true,
    answer: { schema: z.array(eventSchema) },
  } as const;
  serveAdk(routes, route, async (context) => {
    const prepared = await prepareRun(site, context, await readBody(context, runSchema));
    const events: Event[] = [];
    try {
      for await (const event of eventsOf(site, prepared, false)) events.push(event);
    } catch (error) {
      reportFault(site, error, context.get("requestId"));
      return adkErrorResponse(site, error, events.length === 0 ? {} : { events });
    }
    return context.json(events);
  });
}
