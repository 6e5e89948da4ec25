import type { ErrorHandler } from "hono";
import {
  CountersignError,
  type ErrorCode,
  type Event,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  member,
  toProblem,
} from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { cardLink } from "../links.ts";
import { clientProblem, statusOf } from "../problems.ts";
import type { Site } from "../site.ts";

type Linking = Parameters<typeof cardLink>[0];

/** An error as the ADK's clients know it, with our code beside its sentence. */
export interface AdkError extends JsonObject {
  readonly error: string;
  readonly code: ErrorCode;
}

// The ADK's own statuses, where they are not those of our other routes.
const ADK_STATUSES: { readonly [code in ErrorCode]?: number } = { "session-exists": 400 };

/** The status that the ADK's server has for it, or else the one that all our routes have. */
function adkStatusOf(error: unknown): number {
  return ADK_STATUSES[toProblem(error, 500).code] ?? statusOf(error);
}

/** The error that clients get. If others must decide the confirmation, it has a link. */
export function toAdkError(site: Linking, error: unknown): AdkError {
  const { detail, code, field, hint } = clientProblem(error, 500);
  const link = linkIn(site, error);
  return {
    error: link === undefined ? detail : `${detail} Decide it at ${link}`,
    code,
    ...(field === undefined ? {} : { field }),
    ...(hint === undefined ? {} : { hint }),
    ...(link === undefined ? {} : { link }),
  };
}

function linkIn(site: Linking, error: unknown): string | undefined {
  if (!CountersignError.isInstance(error) || error.code !== "not-an-approver") return undefined;
  const refused = member(error.details, "refused");
  for (const one of isJsonArray(refused) ? refused : []) {
    const id = isJsonObject(one) ? member(one, "confirmation") : undefined;
    if (typeof id === "string") return cardLink(site, id);
  }
  return undefined;
}

/** An error as the whole answer. */
export function adkErrorResponse(site: Site, error: unknown, more: object = {}): Response {
  return Response.json(
    { ...toAdkError(site, error), ...more },
    { status: adkStatusOf(error), headers: { "cache-control": "no-store" } },
  );
}

/** An event about a refused answer, with a link where others can decide. */
export function withLink(site: Linking, event: Event): Event {
  const { errorCode, errorMessage, customMetadata } = event;
  const id = isJsonObject(customMetadata) ? member(customMetadata, "confirmation") : undefined;
  if (errorCode !== "not-an-approver" || typeof id !== "string") return event;
  return { ...event, errorMessage: `${errorMessage ?? ""} Decide it at ${cardLink(site, id)}` };
}

/** Handles every error that one of these routes throws. Internal errors go only to the log. */
export function onAdkError(site: Site): ErrorHandler<HttpEnv> {
  return (error, context) => {
    reportFault(site, error, context.get("requestId"));
    return adkErrorResponse(site, error);
  };
}

/** Logs an internal error, with its request. */
export function reportFault(site: Site, error: unknown, requestId: string): void {
  if (adkStatusOf(error) >= 500) site.log.error({ err: error, requestId }, "a request failed");
}

/** The text that ADK clients know for a missing session. */
export function noSession(id: string): CountersignError {
  return new CountersignError("unknown-session", `Session not found: ${id}`);
}
