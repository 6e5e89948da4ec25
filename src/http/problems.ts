import type { ErrorHandler, NotFoundHandler } from "hono";
import { CountersignError, toProblem } from "../protocol/index.ts";
import type { HttpEnv } from "./env.ts";
import { ERROR_STATUSES } from "./error-statuses.ts";
import type { Logger } from "./log.ts";

/** The problem document that tells of an error, with the request's id where there is one. */
export function problemResponse(error: unknown, requestId?: string): Response {
  const status = statusOf(error);
  const problem = { ...toProblem(error, status), ...(requestId === undefined ? {} : { requestId }) };
  return Response.json(problem, {
    status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store" },
  });
}

/** The status of an error; whatever is not ours is a fault of ours. */
export function statusOf(error: unknown): number {
  const { code } = toProblem(error, 500);
  return ERROR_STATUSES[code];
}

/** Every error that a route throws, told as a problem. A fault of ours goes to the log, and only there. */
export function onError(log: Logger): ErrorHandler<HttpEnv> {
  return (error, context) => {
    const requestId = context.get("requestId");
    if (statusOf(error) >= 500) log.error({ err: error, requestId }, "a request failed");
    return problemResponse(error, requestId);
  };
}

export const onNotFound: NotFoundHandler<HttpEnv> = (context) =>
  problemResponse(
    new CountersignError("unknown-route", `There is nothing at ${context.req.path}.`),
    context.get("requestId"),
  );
