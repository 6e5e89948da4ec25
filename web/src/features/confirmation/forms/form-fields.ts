import type { JsonObject, JsonValue } from "../../../api/types.ts";
import { flawOf } from "./bounds.ts";

export type FieldKind = "text" | "number" | "integer" | "boolean" | "choice" | "json";

/** One field of a form that makes a JSON value. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  readonly note?: string;
  readonly choices?: readonly JsonValue[];
  readonly initial: string;
  /** What a value must fit. */
  readonly schema: JsonObject;
}

/** What is typed so far, by field. */
export type Typed = { readonly [name: string]: string };

export type FormResult =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly faults: { readonly [name: string]: string } };

/** A form for an object, or for the one value that is wanted instead of an object. */
export interface Form {
  readonly whole: boolean;
  readonly fields: readonly Field[];
}

/** The form for what a JSON Schema wants, filled with `start` where that has something. */
export function formOf(schema: JsonObject, start: JsonValue | undefined): Form {
  const properties = asObject(schema["properties"]);
  if (properties === undefined) return { whole: true, fields: [fieldOf("", schema, start, true)] };
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const values = asObject(start) ?? {};
  return {
    whole: false,
    fields: Object.entries(properties).map(([name, property]) =>
      fieldOf(name, asObject(property) ?? {}, values[name], required.includes(name)),
    ),
  };
}

/** The form for an example, which stands in for a schema: `{approved_days: 0}` gives a number. */
export function formOfExample(example: JsonValue): Form {
  const values = asObject(example);
  if (values === undefined || Object.keys(values).length === 0) {
    return { whole: true, fields: [fieldOf("", schemaOf(example), example, false)] };
  }
  return {
    whole: false,
    fields: Object.entries(values).map(([name, value]) => fieldOf(name, schemaOf(value), value, false)),
  };
}

function schemaOf(value: JsonValue): JsonObject {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return { type: typeof value };
  }
  return {};
}

function fieldOf(name: string, schema: JsonObject, start: JsonValue | undefined, required: boolean): Field {
  const kind = kindOf(schema);
  const title = schema["title"];
  const note = noteOf(schema);
  const choices = choicesOf(schema);
  return {
    name,
    label: typeof title === "string" ? title : name === "" ? "Answer" : name,
    kind,
    required,
    ...(note === undefined ? {} : { note }),
    ...(choices === undefined ? {} : { choices }),
    initial: toText(kind, start ?? schema["default"]),
    schema,
  };
}

function kindOf(schema: JsonObject): FieldKind {
  if (choicesOf(schema) !== undefined) return "choice";
  const said: unknown = schema["type"];
  const types: readonly unknown[] = Array.isArray(said) ? said.filter((type) => type !== "null") : [said];
  if (types.length !== 1) return "json";
  switch (types[0]) {
    case "string":
      return "text";
    case "number":
    case "integer":
    case "boolean":
      return types[0];
    default:
      return "json";
  }
}

function choicesOf(schema: JsonObject): readonly JsonValue[] | undefined {
  const choices = schema["enum"];
  if (Array.isArray(choices)) return choices as readonly JsonValue[];
  return schema["const"] === undefined ? undefined : [schema["const"]];
}

function noteOf(schema: JsonObject): string | undefined {
  const { description, minimum, maximum, minLength, maxLength } = schema;
  const bounds = [
    typeof minimum === "number" ? `at least ${minimum}` : "",
    typeof maximum === "number" ? `at most ${maximum}` : "",
    typeof minLength === "number" && minLength > 1 ? `at least ${minLength} characters` : "",
    typeof maxLength === "number" ? `at most ${maxLength} characters` : "",
  ].filter(Boolean);
  const words = [typeof description === "string" ? description : "", bounds.join(", ")].filter(Boolean);
  return words.length === 0 ? undefined : words.join(" · ");
}

function toText(kind: FieldKind, value: JsonValue | undefined): string {
  if (value === undefined) return kind === "boolean" ? "false" : "";
  if (kind === "json") return JSON.stringify(value, undefined, 2);
  if (kind === "choice") return JSON.stringify(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What was typed, as the value it means, or what is wrong with it, by field. The server judges again. */
export function readForm({ whole, fields }: Form, typed: Typed): FormResult {
  const faults: Record<string, string> = {};
  const value: Record<string, JsonValue> = {};
  for (const field of fields) {
    const read = readField(field, typed[field.name] ?? field.initial);
    if (read.fault !== undefined) faults[field.name] = read.fault;
    else if (read.value !== undefined) value[field.name] = read.value;
  }
  if (Object.keys(faults).length > 0) return { ok: false, faults };
  return { ok: true, value: whole ? (value[""] ?? null) : value };
}

interface ReadField {
  readonly value?: JsonValue;
  readonly fault?: string;
}

function readField(field: Field, text: string): ReadField {
  const read = readText(field, text);
  const fault = read.value === undefined ? undefined : flawOf(field.schema, read.value);
  return fault === undefined ? read : { fault };
}

function readText({ kind, required }: Field, text: string): ReadField {
  if (text === "" && kind !== "text") return required ? { fault: "This field is required." } : {};
  switch (kind) {
    case "text":
      return text === "" ? (required ? { fault: "This field is required." } : {}) : { value: text };
    case "boolean":
      return { value: text === "true" };
    case "number":
    case "integer":
      return readNumber(kind, text);
    case "choice":
    case "json":
      return readJson(text);
  }
}

function readNumber(kind: "number" | "integer", text: string): ReadField {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) return { fault: "This must be a number." };
  return kind === "integer" && !Number.isInteger(value)
    ? { fault: "This must be a whole number." }
    : { value };
}

function readJson(text: string): ReadField {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    return { fault: 'This must be JSON, for example {"a": 1} or "text".' };
  }
}

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}
