import type { MiddlewareHandler } from "hono";
import type { HttpEnv } from "../env.ts";
import { addHeaders } from "./answer-headers.ts";

const HEADER = "x-request-id";
const SANE = /^[\w.:-]{8,128}$/;

/** Names every request: as its sender did, where that is a plain word, else anew. The answer says the name. */
export const nameRequest: MiddlewareHandler<HttpEnv> = async (context, next) => {
  const given = context.req.header(HEADER);
  const requestId = given !== undefined && SANE.test(given) ? given : crypto.randomUUID();
  context.set("requestId", requestId);
  await next();
  addHeaders(context, { [HEADER]: requestId });
};
