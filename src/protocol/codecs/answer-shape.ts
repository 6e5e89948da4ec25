import { isJsonObject, type JsonObject, type JsonValue, member, parseJson, toJsonValue } from "../json.ts";

/** A parsed answer. */
export interface Answer {
  readonly confirmed: boolean;
  /** Also absent if null was sent: Python's ADK writes null for "none". */
  readonly payload?: JsonValue;
  readonly reason?: string;
  readonly hint?: string;
}

/** The answer, or why it cannot be read. */
export type AnswerReading =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly message: string };

const MAX_WRAPPED_BYTES = 256 * 1024;
const WRAPPERS = ["toolConfirmation", "tool_confirmation"] as const;

/**
 * Reads the `response` of an `adk_request_confirmation` response: bare, or wrapped once, as
 * `{toolConfirmation}`, `{tool_confirmation}` or, standing alone, `{response}` (an object or a JSON text).
 * Approves only where `confirmed` is `true`; no `confirmed` at all is a denial. Refuses any other type of
 * `confirmed`, a second wrapping, and wrappings that contradict each other.
 */
export function readAnswer(response: unknown): AnswerReading {
  const checked = toJsonValue(response);
  if (!checked.ok) return refuse(`the response is not JSON: ${checked.message}`);
  if (!isJsonObject(checked.value)) return refuse("the response must be an object.");
  const bare = unwrap(checked.value);
  return bare.ok ? readBare(bare.value) : bare;
}

type Unwrapping =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly message: string };

function unwrap(response: JsonObject): Unwrapping {
  const wrappers = WRAPPERS.filter((name) => Object.hasOwn(response, name));
  const [wrapper] = wrappers;
  if (wrapper !== undefined) {
    const hasRival = wrappers.length > 1 || Object.hasOwn(response, "confirmed");
    return hasRival
      ? refuse("it says `confirmed` in two places.")
      : unwrapped(member(response, wrapper), wrapper);
  }
  // With other members next to it, `response` is one member of a bare answer, as it is for Google's server.
  if (!Object.hasOwn(response, "response") || Object.keys(response).length > 1) {
    return { ok: true, value: response };
  }
  const inner = member(response, "response");
  if (typeof inner !== "string") return unwrapped(inner, "response");
  const text = parseJson(inner, { maxBytes: MAX_WRAPPED_BYTES });
  return text.ok ? unwrapped(text.value, "response") : refuse(`\`response\` cannot be read. ${text.message}`);
}

function unwrapped(inner: JsonValue | undefined, wrapper: string): Unwrapping {
  if (!isJsonObject(inner)) return refuse(`\`${wrapper}\` must hold an object.`);
  const isWrappedAgain = [...WRAPPERS, "response"].some((name) => Object.hasOwn(inner, name));
  return isWrappedAgain ? refuse(`\`${wrapper}\` contains another wrapper.`) : { ok: true, value: inner };
}

function readBare(answer: JsonObject): AnswerReading {
  if (Object.keys(answer).filter((name) => name.toLowerCase() === "confirmed").length > 1)
    return refuse("it says `confirmed` in two places.");
  const confirmed = member(answer, "confirmed") ?? (Object.hasOwn(answer, "confirmed") ? null : false);
  if (typeof confirmed !== "boolean") return refuse("`confirmed` must be true or false.");
  const payload = member(answer, "payload");
  const hint = member(answer, "hint");
  const reason = reasonIn(answer);
  return {
    ok: true,
    answer: {
      confirmed,
      ...(payload !== undefined && payload !== null && { payload }),
      ...(reason !== undefined && { reason }),
      ...(typeof hint === "string" && { hint }),
    },
  };
}

function reasonIn(answer: JsonObject): string | undefined {
  const payload = member(answer, "payload");
  const nested = isJsonObject(payload) ? member(payload, "rejection_reason") : undefined;
  const candidates = [member(answer, "reason"), member(answer, "rejection_reason"), nested];
  return candidates.find((reason): reason is string => typeof reason === "string" && reason !== "");
}

function refuse(complaint: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message: `The answer decides nothing: ${complaint}` };
}
