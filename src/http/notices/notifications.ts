import type { OpenAPIHono } from "@hono/zod-openapi";
import { notificationSettings, type Principal, putNotificationSettings } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { serve } from "../operation.ts";
import { notificationsSchema } from "../schemas/notifications.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";

const PATH = "/v1/me/notifications";
const TAG = "identity";
const NO_STORE = { "cache-control": "no-store" };

/** How the current user wants to be told of questions: by which channels, and when not. */
export function serveNotifications(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "get",
      path: PATH,
      summary: "Get how you are notified about questions",
      tag: TAG,
      answer: { description: "Your settings", schema: notificationsSchema },
    },
    async (context) => {
      requireScope(context, "read", "decide", "admin");
      const { items } = await site.ledger();
      const settings = await notificationSettings(items, await personOf(site, context.get("principal")));
      return Response.json(settings, { headers: NO_STORE });
    },
  );
  serve(
    routes,
    {
      method: "put",
      path: PATH,
      summary: "Set how you are notified about questions",
      tag: TAG,
      body: notificationsSchema,
      answer: { description: "Your settings", schema: notificationsSchema },
    },
    async (context, { body: { off, quiet, daily } }) => {
      requireScope(context, "decide", "admin");
      const { items } = await site.ledger();
      const person = await personOf(site, context.get("principal"));
      await putNotificationSettings(items, person, {
        off,
        ...(quiet === undefined ? {} : { quiet }),
        ...(daily === undefined ? {} : { daily }),
      });
      return Response.json(await notificationSettings(items, person), { headers: NO_STORE });
    },
  );
}

/** The person, whichever login they use. A program has no settings, and must not change those of the person whose name it has. */
async function personOf(site: Site, { id, kind }: Principal): Promise<string> {
  if (kind !== "agent") return (await site.counting()).directory.person(id);
  throw new CountersignError("forbidden", "A program has no notification settings. Log in as a person.");
}
