import type { OpenAPIHono } from "@hono/zod-openapi";
import { listFailedDeliveries, type ToldPerson, toldPeople } from "../../engine/index.ts";
import { find } from "../approvals/visibility.ts";
import { openCursor, sealCursor } from "../cursors.ts";
import type { HttpEnv } from "../env.ts";
import { IDEMPOTENCY_HEADER } from "../idempotency/idempotency.ts";
import { serve } from "../operation.ts";
import { deliveryPageSchema, deliverySchema, toldPeopleSchema } from "../schemas/deliveries.ts";
import { emptyBodySchema } from "../schemas/inputs.ts";
import { deliveryParamsSchema, idParamsSchema, pageQuerySchema } from "../schemas/queries.ts";
import { hasScope, requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { retryOne } from "./retry.ts";

const TAG = "deliveries";
const NO_STORE = { "cache-control": "no-store" };

/** Who was told of a confirmation; and for administrators, failed deliveries: list them and send them again. */
export function serveDeliveries(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "get",
      path: "/v1/deliveries",
      summary: "List messages to channels that could not be delivered",
      tag: TAG,
      query: pageQuerySchema,
      answer: { description: "All channels, sorted by channel and record", schema: deliveryPageSchema },
      problems: [400],
    },
    async (context, { query: { cursor, limit } }) => {
      requireScope(context, "admin");
      const ledger = await site.ledger();
      const use = { list: "/v1/deliveries", principal: context.get("principal") };
      const { items, next } = await listFailedDeliveries(ledger, {
        ...(cursor === undefined ? {} : { cursor: openCursor(ledger, use, cursor) }),
        ...(limit === undefined ? {} : { limit }),
      });
      const page = next === undefined ? { items } : { items, next: sealCursor(ledger, use, next) };
      return Response.json(page, { headers: NO_STORE });
    },
  );
  serveToldPeople(routes, site);
  serve(
    routes,
    {
      method: "post",
      path: "/v1/deliveries/{channel}/{sequence}/retry",
      summary: "Send an undelivered message again",
      tag: TAG,
      params: deliveryParamsSchema,
      body: emptyBodySchema,
      headers: {
        [IDEMPOTENCY_HEADER]: "A repeated request with the same key within a day is the same request.",
      },
      answer: { description: "The message as it was before the retry", schema: deliverySchema },
      problems: [404],
    },
    async (context, { params }) => {
      requireScope(context, "admin");
      return Response.json(await retryOne(site, context, params), { headers: NO_STORE });
    },
  );
}

/** For everyone who may see the confirmation. What a recipient's server answered is for administrators. */
function serveToldPeople(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "get",
      path: "/v1/confirmations/{id}/deliveries",
      summary: "List who was notified about a confirmation, and on which channel",
      tag: TAG,
      params: idParamsSchema,
      answer: { description: "One item per message, oldest first", schema: toldPeopleSchema },
      problems: [404],
    },
    async (context, { params: { id } }) => {
      requireScope(context, "read", "decide", "admin");
      const principal = context.get("principal");
      const ledger = await site.ledger();
      const { confirmation } = await find(site, id, principal);
      const told = await toldPeople(ledger, confirmation.id);
      const items = hasScope(principal, "admin") ? told : told.map(withoutReason);
      return Response.json({ items }, { headers: NO_STORE });
    },
  );
}

function withoutReason({ reason: _reason, ...told }: ToldPerson): ToldPerson {
  return told;
}
