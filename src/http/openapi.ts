import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import type { HttpEnv } from "./env.ts";
import { serve } from "./operation.ts";

const ABOUT =
  "The approval layer for AI agents: what waits for a person, decisions on it, and what became of it. Errors are " +
  "application/problem+json with a stable `code`; the ADK's own routes answer as the ADK does.";

/** Serves the document that describes every route of this app. Call it after the last of them is mounted. */
export function serveOpenApi(app: OpenAPIHono<HttpEnv>): void {
  // Made when it is first asked for: most servers never are.
  let text: string | undefined;
  serve(
    app,
    {
      method: "get",
      path: "/openapi.json",
      summary: "This document",
      tag: "about",
      answer: { description: "OpenAPI 3.1", schema: z.record(z.string(), z.unknown()) },
    },
    () => {
      text ??= JSON.stringify(
        app.getOpenAPI31Document({
          openapi: "3.1.0",
          info: { title: "Countersign", version: "1", description: ABOUT },
        }),
      );
      return new Response(text, {
        headers: { "content-type": "application/json", "cache-control": "no-cache" },
      });
    },
  );
}
