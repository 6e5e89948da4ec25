import type { MiddlewareHandler } from "hono";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i;

/**
 * A body must be JSON and say so: a page of another origin can send only other types without a preflight. If no type is
 * given, the body is checked when it is read. Raw paths take any type.
 */
export function needJson(isRaw: (path: string) => boolean): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const { method, headers } = context.req.raw;
    const type = headers.get("content-type");
    const isRead = method === "GET" || method === "HEAD";
    if (isRead || type === null || JSON_TYPE.test(type) || isRaw(context.req.path)) return next();
    throw notJson(type);
  };
}

/** The error for a body of another type, or without a type. */
export function notJson(type: string | null): CountersignError {
  return new CountersignError(
    "unsupported-media-type",
    `The content type is ${type ?? "missing"}. Send application/json.`,
    {
      details: { field: "content-type" },
    },
  );
}
