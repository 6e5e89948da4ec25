import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { type Block, LIMITS, oneLine, plain } from "./blocks.ts";

const MOST_FIELDS = 30;
const MOST_LABEL = 150;
const MOST_INITIAL = 3_000;
const INPUT = "input";

type FieldKind = "text" | "number" | "integer" | "boolean" | "choice";

/** One field of a form. */
interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  readonly label: string;
  readonly hint?: string;
  readonly isRequired: boolean;
  readonly choices: readonly string[];
  readonly initial?: JsonValue;
}

/** The fields of a payload that a dialog can ask for; undefined if it cannot show all of them. */
export function formOf(
  schema: JsonObject | undefined,
  example: JsonValue | undefined,
): readonly Field[] | undefined {
  const properties = schema?.["properties"];
  if (schema?.["type"] !== "object" || !isJsonObject(properties)) return undefined;
  const required = isJsonArray(schema["required"]) ? schema["required"] : [];
  const entries = Object.entries(properties);
  if (entries.length === 0 || entries.length > MOST_FIELDS) return undefined;
  const fields: Field[] = [];
  for (const [name, property] of entries) {
    const field = isJsonObject(property) ? fieldOf(name, property) : undefined;
    if (field === undefined) return undefined;
    fields.push({ ...field, isRequired: required.includes(name), ...initialOf(example, name) });
  }
  return fields;
}

function initialOf(example: JsonValue | undefined, name: string): Pick<Field, "initial"> {
  const initial = isJsonObject(example) ? member(example, name) : undefined;
  return initial === undefined || initial === null ? {} : { initial };
}

function fieldOf(name: string, property: JsonObject): Omit<Field, "isRequired"> | undefined {
  const { type, title, description } = property;
  const choices = isJsonArray(property["enum"]) ? property["enum"] : undefined;
  const words = {
    name,
    label: oneLine(typeof title === "string" ? `${title} (${name})` : name, MOST_LABEL),
    ...(typeof description === "string" ? { hint: oneLine(description, MOST_LABEL) } : {}),
    choices: [],
  };
  if (name.length > 200) return undefined;
  if (choices !== undefined) return isChoice(choices) ? { ...words, kind: "choice", choices } : undefined;
  if (type === "string") return { ...words, kind: "text" };
  if (type === "number" || type === "integer" || type === "boolean") return { ...words, kind: type };
  return undefined;
}

function isChoice(values: readonly JsonValue[]): values is readonly string[] {
  const fits = values.length > 0 && values.length <= LIMITS.options;
  return (
    fits &&
    values.every(
      (value) => typeof value === "string" && value !== "" && oneLine(value).length <= LIMITS.option,
    )
  );
}

/** The form as blocks of a dialog. */
export function formBlocks(fields: readonly Field[]): readonly Block[] {
  return fields.map((field) => ({
    type: "input",
    block_id: field.name,
    optional: !field.isRequired,
    label: plain(field.label),
    ...(field.hint === undefined ? {} : { hint: plain(field.hint) }),
    element: { action_id: INPUT, ...elementOf(field) },
  }));
}

function elementOf({ kind, choices, initial }: Field): JsonObject {
  if (kind === "text") {
    const text = typeof initial === "string" ? initial.slice(0, MOST_INITIAL) : undefined;
    return { type: "plain_text_input", multiline: true, ...(text ? { initial_value: text } : {}) };
  }
  if (kind === "number" || kind === "integer") {
    const number = typeof initial === "number" ? { initial_value: String(initial) } : {};
    return { type: "number_input", is_decimal_allowed: kind === "number", ...number };
  }
  const options = (kind === "boolean" ? ["true", "false"] : choices).map((value) => option(value));
  const chosen = options.find(
    ({ value }) => value === (typeof initial === "boolean" ? String(initial) : initial),
  );
  return { type: "static_select", options, ...(chosen === undefined ? {} : { initial_option: chosen }) };
}

function option(value: string): JsonObject {
  return { text: plain(oneLine(value)), value };
}

/** What was filled in, as the payload. What was left empty is left out. */
export function readForm(fields: readonly Field[], values: JsonObject): JsonObject {
  const filled = fields.flatMap((field) => {
    const value = valueOf(field, values);
    return value === undefined ? [] : [[field.name, value] as const];
  });
  return Object.fromEntries(filled);
}

function valueOf({ name, kind }: Field, values: JsonObject): JsonValue | undefined {
  const block = member(values, name);
  const input = isJsonObject(block) ? member(block, INPUT) : undefined;
  if (!isJsonObject(input)) return undefined;
  const { value, selected_option: selected } = input;
  const text = isJsonObject(selected) ? selected["value"] : value;
  if (typeof text !== "string" || text === "") return undefined;
  return kind === "text" || kind === "choice" ? text : readWord(text, kind);
}

// What is no number, or neither true nor false, stays a text, and the schema refuses it.
function readWord(text: string, kind: "number" | "integer" | "boolean"): JsonValue {
  if (kind === "boolean") return text === "true" || (text === "false" ? false : text);
  const number = Number(text);
  return Number.isFinite(number) && text.trim() !== "" ? number : text;
}
