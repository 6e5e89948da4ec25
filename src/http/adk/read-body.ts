import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { CountersignError, isJsonObject, type JsonObject, parseJson } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";

/** A body that fits its schema, with its members in camelCase whichever way they were spelled. */
export async function readBody<Body>(context: Context<HttpEnv>, schema: z.ZodType<Body>): Promise<Body> {
  return toBody(parsedText(await context.req.text()), schema);
}

/** The same, but the body may be missing, which means an empty one. */
export async function readOptionalBody<Body>(
  context: Context<HttpEnv>,
  schema: z.ZodType<Body>,
): Promise<Body> {
  const text = await context.req.text();
  return toBody(text.trim() === "" ? {} : parsedText(text), schema);
}

/** Parses a value with the schema; throws `malformed-request` with the member that does not fit. */
export function toBody<Body>(value: unknown, schema: z.ZodType<Body>, path = ""): Body {
  if (!isJsonObject(value)) throw unfit(path, "must be an object");
  const outcome = schema.safeParse(inCamelCase(value));
  if (outcome.success) return outcome.data;
  const [issue] = outcome.error.issues;
  const place = [path, ...(issue?.path ?? []).map(String)].filter((name) => name !== "").join(".");
  throw unfit(place, issue?.message ?? "is invalid");
}

function parsedText(text: string): unknown {
  const json = parseJson(text);
  if (json.ok) return json.value;
  throw new CountersignError("malformed-json", `The body is not valid JSON: ${json.message}`);
}

// Only the members themselves: their content is data, or has its own parser.
function inCamelCase(body: JsonObject): JsonObject {
  const members = new Map<string, JsonObject[string]>();
  for (const [name, value] of Object.entries(body)) {
    const camel = name.startsWith("_")
      ? name
      : name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (members.has(camel)) throw unfit(camel, "is given twice, in two spellings");
    members.set(camel, value);
  }
  return Object.fromEntries(members);
}

/** A request that is malformed at this place. */
function unfit(path: string, complaint: string): CountersignError {
  return new CountersignError(
    "malformed-request",
    `${path === "" ? "The body" : `\`${path}\``}: ${complaint}.`,
    { details: { field: path } },
  );
}
