import type { OpenAPIHono } from "@hono/zod-openapi";
import { toSse } from "../adk/sse.ts";
import { toSseChunk } from "../adk/wire.ts";
import type { HttpEnv } from "../env.ts";
import { heldToLogin } from "../held-to-login.ts";
import { IDEMPOTENCY_HEADER } from "../idempotency/idempotency.ts";
import { newRoutes, refuseOtherMethods, serve } from "../operation.ts";
import { statusOf } from "../problems.ts";
import type { Site } from "../site.ts";
import { aguiEventSchema, aguiInputSchema, aguiPathSchema } from "./schemas.ts";
import { prepareRun } from "./start-run.ts";
import { aguiEvents, errorEvent } from "./stream.ts";

/** The run API as AG-UI's clients know it. */
export function aguiRoutes(site: Site): OpenAPIHono<HttpEnv> {
  const routes = newRoutes();
  serve(
    routes,
    {
      method: "post",
      path: "/agui/{app}",
      summary: "Send a message to an agent, or answer its interrupts, over AG-UI",
      tag: "agui",
      params: aguiPathSchema,
      body: aguiInputSchema,
      headers: { [IDEMPOTENCY_HEADER]: "Takes the place of `runId` as the key of the request." },
      answer: {
        description: "The run's events. Refused answers and failures are events too",
        schema: aguiEventSchema,
        type: "text/event-stream",
      },
      problems: [404],
    },
    async (context, { params, body }) => {
      const prepared = await prepareRun(site, context, { app: params.app, input: body });
      const requestId = context.get("requestId");
      const lastWords = (error: unknown): string => {
        if (statusOf(error) >= 500) site.log.error({ err: error, requestId }, "a request failed");
        return toSseChunk(errorEvent(error));
      };
      const response = new Response(toSse(aguiEvents(site, prepared), lastWords), {
        headers: {
          "content-type": "text/event-stream",
          "cache-control": "no-cache, no-transform",
          "x-accel-buffering": "no",
        },
      });
      return heldToLogin(site, context, response);
    },
  );
  refuseOtherMethods(routes);
  return routes;
}
