import type { MiddlewareHandler } from "hono";
import type { HttpEnv } from "../env.ts";
import { addHeaders } from "./answer-headers.ts";

const HEADER = "x-request-id";
const SANE = /^[\w.:-]{8,128}$/;

/** Gives every request an id: the sender's own, if it is a plain word, else a new one. It is in the answer's header. */
export const nameRequest: MiddlewareHandler<HttpEnv> = async (context, next) => {
  const given = context.req.header(HEADER);
  const requestId = given !== undefined && SANE.test(given) ? given : crypto.randomUUID();
  context.set("requestId", requestId);
  await next();
  addHeaders(context, { [HEADER]: requestId });
};
