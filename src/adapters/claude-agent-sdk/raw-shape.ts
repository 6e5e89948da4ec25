import { readShape } from "../../engine/index.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";

interface Member {
  readonly "~standard": {
    validate(value: unknown): unknown;
  };
}

type Validated =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
}

/** The arguments that fit, or why they do not. */
export type Parsed =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly message: string };

/** Parses arguments as the SDK does: member by member, and without what the record does not name. */
export async function parseRawShape(shape: object, input: unknown): Promise<Parsed> {
  if (!isJsonObject(input)) return { ok: false, message: "The input must be an object." };
  const args: Record<string, JsonValue> = {};
  for (const [name, schema] of Object.entries(shape)) {
    const result = await validate(schema as Member, Object.hasOwn(input, name) ? input[name] : undefined);
    if (result.issues !== undefined)
      return { ok: false, message: `${name}: ${result.issues[0]?.message ?? "it does not fit"}` };
    // What is not JSON is refused by the ledger.
    if (result.value !== undefined) args[name] = result.value as JsonValue;
  }
  return { ok: true, args };
}

/** The same as JSON Schema, as far as the schemas can be converted. */
export async function jsonSchemaOf(shape: object): Promise<JsonObject> {
  const properties: Record<string, JsonValue> = {};
  const required: string[] = [];
  for (const [name, schema] of Object.entries(shape)) {
    properties[name] = readShape(schema as Parameters<typeof readShape>[0]).jsonSchema ?? {};
    if ((await validate(schema as Member, undefined)).issues !== undefined) required.push(name);
  }
  return { type: "object", properties, required };
}

async function validate({ "~standard": standard }: Member, value: unknown): Promise<Validated> {
  return (await standard.validate(value)) as Validated;
}
