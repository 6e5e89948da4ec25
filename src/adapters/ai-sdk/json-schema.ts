import { asSchema, type FlexibleSchema } from "ai";
import { isJsonObject, type JsonObject } from "../../protocol/index.ts";

const made = new WeakMap<object, Promise<JsonObject | undefined>>();

/** A tool's schema as JSON Schema. Made once: the tools outlive the gate of a request, and the AI SDK makes it each time. */
export function jsonSchemaOf(inputSchema: FlexibleSchema | undefined): Promise<JsonObject | undefined> {
  if (inputSchema === undefined) return convert(inputSchema);
  const known = made.get(inputSchema);
  if (known !== undefined) return known;
  const schema = convert(inputSchema);
  made.set(inputSchema, schema);
  // It may work the next time.
  schema.catch(() => made.delete(inputSchema));
  return schema;
}

async function convert(inputSchema: FlexibleSchema | undefined): Promise<JsonObject | undefined> {
  const schema: unknown = await asSchema(inputSchema).jsonSchema;
  return isJsonObject(schema) ? schema : undefined;
}
