import type { MiddlewareHandler } from "hono";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i;

/**
 * A body is JSON and says so: the types that a page of another origin can send without asking are all others. Whether
 * a request that names no type has a body is seen when it is read.
 */
export const needJson: MiddlewareHandler<HttpEnv> = async (context, next) => {
  const { method, headers } = context.req.raw;
  const type = headers.get("content-type");
  if (method === "GET" || method === "HEAD" || type === null || JSON_TYPE.test(type)) return next();
  throw notJson(type);
};

/** What a body of another type, or of none, is told. */
export function notJson(type: string | null): CountersignError {
  return new CountersignError(
    "unsupported-media-type",
    `The content type is ${type ?? "missing"}. Send application/json.`,
    {
      details: { field: "content-type" },
    },
  );
}
