import { type OutputUnit, Validator } from "@cfworker/json-schema";
import type { JsonObject, JsonValue } from "../protocol/index.ts";

/** Does the value fit? If not, which field does not, and why. */
export type SchemaOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly field: string; readonly message: string };

/** Checks a value against a JSON Schema (2020-12). A schema that cannot be read fits nothing. */
export function checkSchema(schema: JsonObject, value: JsonValue): SchemaOutcome {
  try {
    const outcome = validatorOf(schema).validate(value);
    if (outcome.valid) return { ok: true };
    const worst = outcome.errors.reduce((deepest, error) =>
      error.instanceLocation.length >= deepest.instanceLocation.length ? error : deepest,
    );
    return { ok: false, field: fieldOf(worst), message: worst.error };
  } catch (error) {
    return { ok: false, field: "", message: `the schema cannot be read: ${String(error)}` };
  }
}

// A tool's schema is read once and asked at every call; it is data, and not changed in place.
const validators = new WeakMap<JsonObject, Validator>();

function validatorOf(schema: JsonObject): Validator {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  // Short-circuit off: the innermost error is the one that names the field.
  const validator = new Validator(schema, "2020-12", false);
  validators.set(schema, validator);
  return validator;
}

function fieldOf({ instanceLocation, keyword, error }: OutputUnit): string {
  const place = instanceLocation.replace(/^#\/?/, "");
  // What is missing has no place of its own; only the message names it.
  const missing = keyword === "required" ? (/"(.*)"/s.exec(error)?.[1] ?? "") : "";
  return place === "" || missing === "" ? place + missing : `${place}/${missing}`;
}
