import type { OpenAPIHono } from "@hono/zod-openapi";
import { acknowledgeNotice, openNotices, type StoredNotice } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { serve } from "../operation.ts";
import { emptyBodySchema } from "../schemas/inputs.ts";
import { noticeListSchema, noticeSchema } from "../schemas/notices.ts";
import { idParamsSchema } from "../schemas/queries.ts";
import { hasScope, requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";

const TAG = "notices";
const NO_STORE = { "cache-control": "no-store" };

/** Losses that processes detected in the ledger, until an administrator acknowledges them. */
export function serveNotices(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "get",
      path: "/v1/notices",
      summary: "List reports of lost commits that nobody has acknowledged",
      tag: TAG,
      answer: { description: "All of them, newest first", schema: noticeListSchema },
    },
    async (context) => {
      requireScope(context, "decide", "admin");
      const isAdmin = hasScope(context.get("principal"), "admin");
      const notices = await openNotices((await site.ledger()).items);
      const items = isAdmin ? notices : notices.map(withoutDetails);
      return Response.json({ items }, { headers: NO_STORE });
    },
  );
  serve(
    routes,
    {
      method: "post",
      path: "/v1/notices/{id}/acknowledgement",
      summary: "Acknowledge a notice, which hides it for everyone. The first acknowledgement is kept",
      tag: TAG,
      params: idParamsSchema,
      body: emptyBodySchema,
      answer: { description: "The notice, and who acknowledged it", schema: noticeSchema },
      problems: [404],
    },
    async (context, { params: { id } }) => {
      requireScope(context, "admin");
      const { id: by, kind } = context.get("principal");
      if (kind === "agent") throw new CountersignError("forbidden", "An agent may not hide a notice.");
      const notice = await acknowledgeNotice((await site.ledger()).items, id, { by, at: Date.now() });
      site.log.info({ notice: id, by: notice.acknowledged?.by }, "a notice was acknowledged");
      return Response.json(notice, { headers: NO_STORE });
    },
  );
}

/** Only administrators may see which sessions and calls were lost. */
function withoutDetails({ id, kind, at, message, count }: StoredNotice): Partial<StoredNotice> {
  return { id, kind, at, message, count };
}
