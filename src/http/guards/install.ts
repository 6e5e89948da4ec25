import type { OpenAPIHono } from "@hono/zod-openapi";
import { toPrincipal } from "../../engine/index.ts";
import type { AppOptions } from "../app-options.ts";
import type { HttpEnv } from "../env.ts";
import type { Site } from "../site.ts";

/** Everything that a request passes before any route sees it; what it finds out is in the context's variables. */
export function installGuards(app: OpenAPIHono<HttpEnv>, _site: Site, _options: AppOptions): void {
  app.use(async (context, next) => {
    context.set("requestId", crypto.randomUUID());
    context.set(
      "principal",
      toPrincipal({ id: "local", scopes: ["run", "read", "decide", "act-as", "admin"] }),
    );
    await next();
  });
}
