import { scripted } from "../models/scripted/index.ts";
import { isJsonObject, type JsonObject, type JsonValue, member, type Part } from "../protocol/index.ts";
import type { Model, ModelRequest, ToolDeclaration } from "../runtime/index.ts";

// Each pattern starts only at a word, so that matching stays linear.
const PAIR = /(?<![\w.-])([\w.-]+)=(?:"([^"]*)"|(\S+))/g;
const VALUE = /"([^"]*)"|'([^']*)'|((?<![^\s"'])\S+\.\w+|\/\S+)|\b(\d+(?:\.\d+)?)\b/g;

/**
 * A scripted model for trying out an agent without a key: it calls the tool that the message names, with `name=value`
 * pairs, file names and quoted texts as arguments, and repeats the result.
 */
export function demoModel(): Model {
  return scripted((request) => {
    const last = request.contents.at(-1)?.parts ?? [];
    const answers = last.flatMap(({ functionResponse }) =>
      functionResponse === undefined ? [] : [functionResponse],
    );
    if (answers.length > 0) {
      return answers.map(({ name, response }) => `${name}: ${told(response)}`).join("\n");
    }
    const text = last.map((part) => part.text ?? "").join(" ");
    return callFor(text, request) ?? whatCanBeSaid(request);
  });
}

function told(response: JsonObject): string {
  const text = member(response, "text") ?? member(response, "error");
  return typeof text === "string" ? text : JSON.stringify(response);
}

function callFor(text: string, { tools }: ModelRequest): readonly Part[] | undefined {
  const words = new Set(text.toLowerCase().match(/[a-z]+/g));
  const ranked = tools
    .map((tool) => ({ tool, hits: wordsOf(tool.name).filter((word) => words.has(word)).length }))
    .toSorted((one, other) => other.hits - one.hits);
  const [best] = ranked;
  if (best === undefined || best.hits === 0) return undefined;
  return [{ functionCall: { name: best.tool.name, args: argumentsIn(text, best.tool) } }];
}

function wordsOf(name: string): readonly string[] {
  return name
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
}

/** `name=value` where the message has it; else quoted texts and file names, in the order of the parameters. */
function argumentsIn(text: string, { name, parameters = {} }: ToolDeclaration): JsonObject {
  const properties = member(parameters, "properties");
  const schemas = isJsonObject(properties) ? properties : {};
  const required = member(parameters, "required");
  const wanted = Array.isArray(required) ? required.map(String) : Object.keys(schemas);
  const loose = looseValues(text, name);
  const pairs = new Map(
    Array.from(text.matchAll(PAIR), ([, key = "", quoted, bare]) => [key, quoted ?? bare ?? ""]),
  );
  const entries = wanted.flatMap((parameter): readonly (readonly [string, JsonValue])[] => {
    const value = pairs.get(parameter) ?? loose.shift();
    return value === undefined ? [] : [[parameter, ofType(member(schemas, parameter), value)]];
  });
  return Object.fromEntries(entries);
}

function looseValues(text: string, toolName: string): string[] {
  const words = new Set(wordsOf(toolName));
  const found = text.matchAll(VALUE);
  return Array.from(found, (match) => match.slice(1).find((group) => group !== undefined) ?? "").filter(
    (value) => value !== "" && !words.has(value.toLowerCase()),
  );
}

function ofType(schema: JsonValue | undefined, value: string): JsonValue {
  const type = isJsonObject(schema) ? member(schema, "type") : undefined;
  if (type === "number" || type === "integer") return Number(value);
  if (type === "boolean") return value === "true";
  return value;
}

function whatCanBeSaid({ tools }: ModelRequest): string {
  const names = tools.map(({ name }) => name.replaceAll("_", " ")).join(", ");
  return names === ""
    ? "I am a scripted model and have no tools. Set a model key to use a real model."
    : `I am a scripted model; set a model key to use a real one. Name one of my tools and its arguments: ${names}.`;
}
