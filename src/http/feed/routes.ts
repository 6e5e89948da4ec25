import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { HttpEnv } from "../env.ts";
import { serve } from "../operation.ts";
import { streamQuerySchema } from "../schemas/queries.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { Feed } from "./feed.ts";

const HEADERS = {
  "content-type": "text/event-stream",
  // Hosts that compress and proxies that buffer would delay every message.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

/** Serves the live feed. */
export function serveFeed(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  const feed = new Feed(site, site.feed);
  serve(
    routes,
    {
      method: "get",
      path: "/v1/confirmations/stream",
      summary: "Stream every change to the confirmations that you may see",
      tag: "confirmations",
      query: streamQuerySchema,
      headers: {
        "Last-Event-ID": "The id of the last message received. Changes since then are sent first.",
      },
      answer: {
        description:
          "Messages: `ready` (data `{}`), `confirmation` (a Confirmation as it is now), `reset` (data `{reason}`: " +
          "discard your state) and then `snapshot` (a ConfirmationPage of open confirmations). Comments are heartbeats.",
        schema: z.string(),
        type: "text/event-stream",
      },
      problems: [503],
    },
    async (context, { query }) => {
      requireScope(context, "read", "decide", "admin");
      // For a HEAD request nobody would read or close it.
      if (context.req.method === "HEAD") return new Response(null, { headers: HEADERS });
      const { raw } = context.req;
      const body = await feed.open({
        viewer: context.get("principal"),
        lastEventId: context.req.header("Last-Event-ID") || query.lastEventId || undefined,
        recognise: () => site.auth.authenticate(raw),
      });
      return new Response(body, { headers: HEADERS });
    },
  );
}
