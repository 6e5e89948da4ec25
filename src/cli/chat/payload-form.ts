import type { Shown } from "../../engine/index.ts";
import { readShape } from "../../engine/index.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
  parseJson,
} from "../../protocol/index.ts";
import { inert } from "../output.ts";

/** One value that a person is asked for. */
export interface Field {
  readonly name: string;
  /** The prompt: name, type, description and default. */
  readonly prompt: string;
  /** The parsed input, or why it is invalid; `undefined` leaves the field out. */
  read(text: string): Promise<FieldOutcome>;
}

/** Parses the input of a field. */
export type FieldOutcome =
  | { readonly ok: true; readonly value: JsonValue | undefined }
  | { readonly ok: false; readonly message: string };

/** The fields to ask for, one after the other; undefined if only a yes is needed. */
export type Form =
  | { readonly kind: "fields"; readonly fields: readonly Field[] }
  /** The payload is no object, or its members are not known: one value. */
  | { readonly kind: "value"; readonly field: Field };

/** The form of a question: from its schema, else from its example. */
export function formOf({ schema, payload: example }: Pick<Shown, "schema" | "payload">): Form | undefined {
  if (schema === undefined && example === undefined) return undefined;
  const properties = schema === undefined ? exampleSchemas(example) : member(schema, "properties");
  if (!isJsonObject(properties) || Object.keys(properties).length === 0) {
    return { kind: "value", field: fieldOf("payload", schema ?? {}, { required: true, usual: example }) };
  }
  const required = schema === undefined ? [] : (member(schema, "required") ?? []);
  const fields = Object.entries(properties).map(([name, property]) =>
    fieldOf(name, isJsonObject(property) ? property : {}, {
      required: isJsonArray(required) && required.includes(name),
      usual: isJsonObject(example) ? member(example, name) : undefined,
    }),
  );
  return { kind: "fields", fields };
}

/** The types of an example's members. */
function exampleSchemas(example: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(example)) return undefined;
  return Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, value === null ? {} : { type: typeNameOf(value) }]),
  );
}

function typeNameOf(value: JsonValue): string {
  return isJsonArray(value) ? "array" : typeof value;
}

function fieldOf(
  name: string,
  schema: JsonObject,
  { usual: example, ...given }: { readonly required: boolean; readonly usual: JsonValue | undefined },
): Field {
  const usual = isPlaceholder(example) ? member(schema, "default") : example;
  const required = given.required || (example !== undefined && usual === undefined);
  const choices = member(schema, "enum");
  const type = isJsonArray(choices)
    ? choices.map(wordOf).join(" | ")
    : wordOf(member(schema, "type") ?? "JSON");
  const about = member(schema, "description");
  const hints = [
    type,
    ...(typeof about === "string" ? [about] : []),
    ...(required || usual !== undefined ? [] : ["optional"]),
  ];
  const shownUsual = usual === undefined ? "" : ` [${inert(JSON.stringify(usual), 60)}]`;
  return {
    name,
    prompt: `${inert(name)} (${hints.map((hint) => inert(hint, 100)).join(", ")})${shownUsual}: `,
    read: async (text) => {
      if (text.trim() === "" && usual !== undefined) return { ok: true, value: usual };
      if (text.trim() === "" && !required) return { ok: true, value: undefined };
      const value = toValue(text, schema);
      if (value === undefined) return { ok: false, message: `"${inert(text)}" is not a valid ${type}` };
      return check(name, schema, value);
    },
  };
}

// Examples written for the ADK have 0 or null where a person has to say something. Pressing Enter must not say it.
function isPlaceholder(example: JsonValue | undefined): boolean {
  return example === undefined || example === null || example === 0;
}

/** A text needs no quotes if the field may be a string; everything else is JSON. */
function toValue(text: string, schema: JsonObject): JsonValue | undefined {
  const word = text.trim();
  const type = member(schema, "type");
  const choices = member(schema, "enum");
  if (isJsonArray(choices)) return choices.find((choice) => wordOf(choice) === word);
  if (type === "string") return word;
  if (type === "boolean") return BOOLEANS.get(word.toLowerCase());
  const parsed = parseJson(word);
  if (parsed.ok) return parsed.value;
  const mayBeText = type === undefined || (isJsonArray(type) && type.includes("string"));
  return mayBeText ? word : undefined;
}

function wordOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["yes", true],
  ["y", true],
  ["false", false],
  ["no", false],
  ["n", false],
]);

async function check(name: string, schema: JsonObject, value: JsonValue): Promise<FieldOutcome> {
  // References cannot be resolved inside one field's schema; the whole payload is checked when it is committed.
  if (JSON.stringify(schema).includes(`"$ref"`)) return { ok: true, value };
  const parsed = await readShape({ type: "object", properties: { [name]: schema } }).parse({ [name]: value });
  return parsed.ok ? { ok: true, value } : { ok: false, message: inert(parsed.message) };
}
