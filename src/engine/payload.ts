import { canonicalJson, type JsonObject, type JsonValue } from "../protocol/index.ts";
import { checkSchema } from "./json-schema.ts";
import type { Shown } from "./records.ts";

/** The payload a tool will get, or why the answer cannot stand. */
export type PayloadOutcome =
  | { readonly ok: true; readonly payload?: JsonValue }
  | { readonly ok: false; readonly field: string; readonly message: string };

/**
 * What an approval's payload means for this question. A payload equal to the call's arguments, where another
 * shape was asked for, is none: the ADK web UI always sends the arguments back.
 */
export function judgePayload(
  shown: Pick<Shown, "payload" | "schema">,
  args: JsonObject,
  sent: JsonValue | undefined,
): PayloadOutcome {
  if (shown.schema !== undefined) return judgeBySchema(shown.schema, args, sent);
  if (sent === undefined || echoesArguments(shown.payload, args, sent)) {
    return shown.payload === undefined ? { ok: true } : { ok: true, payload: shown.payload };
  }
  return { ok: true, payload: sent };
}

function judgeBySchema(schema: JsonObject, args: JsonObject, sent: JsonValue | undefined): PayloadOutcome {
  const required = Array.isArray(schema["required"]) ? String(schema["required"][0]) : "payload";
  const missing = {
    ok: false,
    field: required,
    message: "the request asks for a payload and none was given",
  } as const;
  if (sent === undefined) return missing;
  const outcome = checkSchema(schema, sent);
  if (outcome.ok) return { ok: true, payload: sent };
  return sameJson(sent, args) ? missing : outcome;
}

function echoesArguments(example: JsonValue | undefined, args: JsonObject, sent: JsonValue): boolean {
  return example !== undefined && sameJson(sent, args) && shapeOf(example) !== shapeOf(args);
}

function shapeOf(value: JsonValue): string {
  return typeof value === "object" && value !== null ? Object.keys(value).sort().join("\0") : typeof value;
}

/** Equal as JSON, whatever the order of members. */
export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a === b || canonicalJson(a) === canonicalJson(b);
}
