import { type Engine, type Refusal, toConfirmation } from "../engine/index.ts";
import {
  CountersignError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../protocol/index.ts";
import { statusOf } from "./display/card.ts";
import type { FoundCall } from "./find-confirmation.ts";
import { localPrincipal } from "./wiring.ts";

/** A refusal of the engine as an error, with a hint what to do if there is one. */
export function toError({ code, message, field }: Refusal, advice?: string): CountersignError {
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  const words = advice === undefined ? sentence : `${sentence} ${advice}`;
  return new CountersignError(code, words, field === undefined ? {} : { details: { field } });
}

/** A call for programs: the confirmation's API form if there is one. */
export function toJson({ call, confirmation, session }: FoundCall): JsonObject {
  if (confirmation !== undefined) {
    return { ...toConfirmation({ confirmation, call, session }, localPrincipal()) } as unknown as JsonObject;
  }
  return {
    callId: call.id,
    status: statusOf({ call }),
    app: call.app,
    agent: call.agent,
    session: session.id,
    tool: call.tool,
    attempt: call.attempt,
    ...(call.result === undefined ? {} : { result: call.result }),
  };
}

/** The same call, as it is now. */
export async function reload(engine: Engine, found: FoundCall): Promise<FoundCall> {
  const { call, confirmation } = found;
  const now = await engine.ledger.load(
    confirmation === undefined ? { call: call.id } : { confirmation: confirmation.id },
  );
  return now?.call === undefined ? found : { ...now, call: now.call };
}

/** A flag's value as JSON; throws `malformed-json` with the flag's name. */
export function parseFlag(name: string, text: string): JsonValue {
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  throw new CountersignError(
    "malformed-json",
    `--${name}: ${parsed.message} A text needs JSON quotes: '"text"'.`,
    {
      details: { field: name },
    },
  );
}

/** A flag's value as a JSON object. */
export function parseObjectFlag(name: string, text: string): JsonObject {
  const value = parseFlag(name, text);
  if (isJsonObject(value)) return value;
  throw new CountersignError(
    "malformed-json",
    `--${name}: use a JSON object, for example '{"amount":2000}'.`,
    {
      details: { field: name },
    },
  );
}
