import type { ErrorHandler, NotFoundHandler } from "hono";
import { CountersignError, type ErrorCode, type Problem, toProblem } from "../protocol/index.ts";
import type { HttpEnv } from "./env.ts";
import { ERROR_STATUSES } from "./error-statuses.ts";
import type { Logger } from "./log.ts";

/** Their messages are for the operator: they name files, packages and settings. */
const OPERATORS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "ledger-unreachable",
  "ledger-mismatch",
  "ledger-newer",
  "invalid-option",
  "missing-package",
]);

/** Is the client told nothing of it but its code? */
export function isForOperator(error: unknown): boolean {
  const { code } = toProblem(error, 500);
  return code === "internal" || OPERATORS.has(code);
}

/** What a client is told about an error. For errors that only the operator can fix, it gets no details. */
export function clientProblem(error: unknown, status: number): Problem {
  const problem = toProblem(error, status);
  if (!OPERATORS.has(problem.code)) return problem;
  const { type, title, code } = problem;
  return { type, title, status, detail: `${title} See the server log for details.`, code };
}

/** The problem document for an error, with the request's id if there is one. */
export function problemResponse(error: unknown, requestId?: string): Response {
  const status = statusOf(error);
  const problem = { ...clientProblem(error, status), ...(requestId === undefined ? {} : { requestId }) };
  return Response.json(problem, {
    status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store" },
  });
}

/** The HTTP status of an error; unknown errors are internal errors. */
export function statusOf(error: unknown): number {
  const { code } = toProblem(error, 500);
  return ERROR_STATUSES[code];
}

/** Answers every error that a route throws with a problem document. Internal errors go only to the log. */
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
