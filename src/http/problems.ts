import type { ErrorHandler, NotFoundHandler } from "hono";
import { CountersignError, type ErrorCode, type Problem, toProblem } from "../protocol/index.ts";
import type { HttpEnv } from "./env.ts";
import { ERROR_STATUSES } from "./error-statuses.ts";
import type { Logger } from "./log.ts";

/** Their sentences are for whoever runs the server: they name its files, packages and settings. */
const OPERATORS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "ledger-unreachable",
  "ledger-mismatch",
  "ledger-newer",
  "invalid-option",
  "missing-package",
]);

/** What a client is told of an error. Of what only the server's operator can mend it is told no more than that. */
export function toldProblem(error: unknown, status: number): Problem {
  const problem = toProblem(error, status);
  if (!OPERATORS.has(problem.code)) return problem;
  const { type, title, code } = problem;
  return { type, title, status, detail: `${title} See the server log for details.`, code };
}

/** The problem document that tells of an error, with the request's id where there is one. */
export function problemResponse(error: unknown, requestId?: string): Response {
  const status = statusOf(error);
  const problem = { ...toldProblem(error, status), ...(requestId === undefined ? {} : { requestId }) };
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
