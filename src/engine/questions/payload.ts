import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { checkSchema, redact, sameJson } from "../common/index.ts";
import type { CallRecord, Shown } from "../ledger/index.ts";

/** The payload that a tool will get, or why the answer is refused. */
export type PayloadOutcome =
  | { readonly ok: true; readonly payload?: JsonValue }
  | { readonly ok: false; readonly field: string; readonly message: string };

/** The arguments that the question was about, as they were when it was asked. */
export type AskedAbout = Pick<CallRecord, "args" | "secrets">;

/**
 * What an approval's payload means for this question. A payload equal to the shown arguments counts as no payload if
 * another shape, or none, was asked for: the ADK web UI always sends the arguments back.
 */
export function judgePayload(
  shown: Pick<Shown, "payload" | "schema">,
  about: AskedAbout,
  sent: JsonValue | undefined,
): PayloadOutcome {
  if (shown.schema !== undefined) return judgeBySchema(shown.schema, about, sent);
  if (sent === undefined || isNoPayload(shown.payload, about, sent)) {
    return shown.payload === undefined ? { ok: true } : { ok: true, payload: shown.payload };
  }
  return { ok: true, payload: sent };
}

function judgeBySchema(schema: JsonObject, about: AskedAbout, sent: JsonValue | undefined): PayloadOutcome {
  const required: unknown = Array.isArray(schema["required"]) ? schema["required"][0] : undefined;
  const missing = {
    ok: false,
    field: typeof required === "string" ? required : "payload",
    message: "the confirmation needs a payload, but none was given",
  } as const;
  if (sent === undefined) return missing;
  const outcome = checkSchema(schema, sent);
  if (outcome.ok) return { ok: true, payload: sent };
  return echoesArguments(about, sent) ? missing : outcome;
}

function isNoPayload(example: JsonValue | undefined, about: AskedAbout, sent: JsonValue): boolean {
  if (!echoesArguments(about, sent)) return false;
  return example === undefined || shapeOf(example) !== shapeOf(about.args);
}

// Clients see, and send back, redacted arguments.
function echoesArguments({ args, secrets }: AskedAbout, sent: JsonValue): boolean {
  return sameJson(sent, args) || (secrets.length > 0 && sameJson(sent, redact(args, secrets)));
}

function shapeOf(value: JsonValue): string {
  return typeof value === "object" && value !== null ? Object.keys(value).sort().join("\0") : typeof value;
}
