import type { CountersignError } from "../../protocol/index.ts";
import { modelFailed, readRetryAfter } from "../failure.ts";
import { fieldsOf } from "./language-model.ts";

/** Translates what a provider threw: by its shape, as two copies of the AI SDK may be installed. */
export function toFailure(error: unknown, model: string, now: number): CountersignError {
  const { statusCode, isRetryable, responseHeaders } = fieldsOf(error);
  const headers = fieldsOf(responseHeaders);
  const header = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === "string" ? value : undefined;
  };
  const status = typeof statusCode === "number" ? statusCode : undefined;
  const message = messageOf(error);
  return modelFailed(
    status === undefined
      ? `${model} could not be reached: ${message}`
      : `${model} answered with status ${status}: ${message}`,
    {
      status,
      retryable: typeof isRetryable === "boolean" ? isRetryable : undefined,
      retryAfterMs: readRetryAfter(header, now),
      cause: error,
    },
  );
}

/** An interrupted stream: what came so far is not an answer. */
export function toCut(error: unknown, model: string, now: number): CountersignError {
  if (typeof fieldsOf(error)["statusCode"] === "number") return toFailure(error, model, now);
  return modelFailed(`The answer of ${model} is incomplete: ${messageOf(error)}`, {
    retryable: true,
    cause: error,
  });
}

function messageOf(error: unknown): string {
  if (typeof error === "string") return error;
  const { message } = fieldsOf(error);
  return typeof message === "string" ? message : (JSON.stringify(error) ?? String(error));
}
