import {
  type CountersignError,
  isJsonArray,
  isJsonObject,
  type JsonValue,
  parseJson,
} from "../../protocol/index.ts";
import { modelFailed } from "../failure.ts";

/** Kinds of error that come of the connection, not of the request. */
const PASSING_NAMES: ReadonlySet<string> = new Set([
  "TypeError",
  "SyntaxError",
  "TimeoutError",
  "AbortError",
]);

/** Translates what Google's SDK threw. `retryAfterMs` is what the response's headers asked for. */
export function toFailure(error: unknown, model: string, retryAfterMs: number | undefined): CountersignError {
  const { status, message } = readThrown(error);
  if (status === undefined) {
    return modelFailed(`${model} could not be reached: ${message}`, {
      retryable: error instanceof Error && PASSING_NAMES.has(error.name),
      cause: error,
    });
  }
  const body = readBody(message);
  return modelFailed(`${model} answered with status ${status}: ${body.message}`, {
    status,
    retryAfterMs: retryAfterMs ?? body.retryAfterMs,
    cause: error,
  });
}

/** An interrupted stream: what came so far is not an answer. */
export function toCut(error: unknown, model: string): CountersignError {
  const { status, message } = readThrown(error);
  if (status !== undefined) return toFailure(error, model, undefined);
  return modelFailed(`The answer of ${model} is incomplete: ${message}`, { retryable: true, cause: error });
}

function readThrown(error: unknown): { readonly status?: number; readonly message: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  const cause = error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
  return "status" in error && typeof error.status === "number"
    ? { status: error.status, message: error.message }
    : { message: cause };
}

/** The SDK's message is the body of the response, as JSON; in a stream with words before it. */
function readBody(text: string): { readonly message: string; readonly retryAfterMs?: number } {
  const body = parseJson(text.slice(Math.max(0, text.indexOf("{"))));
  const error = body.ok && isJsonObject(body.value) ? body.value["error"] : undefined;
  if (error === undefined || !isJsonObject(error)) return { message: text };
  const retryAfterMs = readRetryInfo(error["details"]);
  return {
    message: typeof error["message"] === "string" ? error["message"] : text,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** `google.rpc.RetryInfo`: how Gemini itself says how long to wait, as in `"38.5s"`. */
function readRetryInfo(details: JsonValue | undefined): number | undefined {
  if (details === undefined || !isJsonArray(details)) return undefined;
  for (const detail of details) {
    const delay = isJsonObject(detail) ? detail["retryDelay"] : undefined;
    const seconds = typeof delay === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined;
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000);
  }
  return undefined;
}
