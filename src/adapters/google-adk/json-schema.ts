import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { AdkDeclaration } from "./host-types.ts";

/** What a declaration says about the arguments, as JSON Schema. */
export function jsonSchemaOf({ parameters, parametersJsonSchema }: AdkDeclaration): JsonObject | undefined {
  const given = asJson(parametersJsonSchema);
  if (isJsonObject(given)) return given;
  const schema = asJson(parameters);
  return isJsonObject(schema) ? toJsonSchema(schema) : undefined;
}

function asJson(value: unknown): JsonValue | undefined {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as JsonValue);
}

/** Keywords of the Gemini API that JSON Schema does not have. */
const DROPPED: ReadonlySet<string> = new Set(["nullable", "propertyOrdering", "example"]);
/** Numbers that the Gemini API writes as text. */
const COUNTS: ReadonlySet<string> = new Set([
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
]);

function toJsonSchema(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([name]) => !DROPPED.has(name));
  const converted = Object.fromEntries(kept.map(([name, value]) => [name, convert(name, value)]));
  return schema["nullable"] === true ? { anyOf: [converted, { type: "null" }] } : converted;
}

function convert(name: string, value: JsonValue): JsonValue {
  if (name === "type" && typeof value === "string") return value.toLowerCase();
  if (COUNTS.has(name) && typeof value === "string") return Number(value);
  if (name === "items" && isJsonObject(value)) return toJsonSchema(value);
  if (name === "anyOf" && Array.isArray(value))
    return (value as readonly JsonValue[]).map((each) => (isJsonObject(each) ? toJsonSchema(each) : each));
  if (name === "properties" && isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, isJsonObject(each) ? toJsonSchema(each) : each]),
    );
  return value;
}
