import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/index.ts";
import type { Random } from "../support/random.ts";

/** Values that mean something to the server, by the name of what takes them. */
export type Known = Readonly<Record<string, readonly string[]>>;

const WORDS = [
  "",
  "pay 5",
  "login now",
  "lose 1",
  "fail",
  "Überweisung",
  "支払い",
  "🙂",
  "\u202egpj.exe",
  "../../etc/passwd",
  "' or 1=1 --",
  "<script>alert(1)</script>",
  "%00",
  "\u0000",
  "null",
  "__proto__",
];

/** Makes values that a schema of the document allows. */
export class Values {
  readonly #random: Random;
  readonly #known: Known;
  readonly #schemas: JsonObject;

  constructor(random: Random, known: Known, schemas: JsonObject) {
    this.#random = random;
    this.#known = known;
    this.#schemas = schemas;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.#random.below(from.length)] as T;
  }

  /** Something of this shape; of what has a name that is known, mostly something that exists. */
  of(schema: JsonObject, name = "", depth = 0): JsonValue {
    const known = this.#known[name];
    if (known !== undefined && known.length > 0 && this.#random.chance(0.8)) return this.pick(known);
    const reference = schema["$ref"];
    if (typeof reference === "string") {
      const target = this.#schemas[reference.split("/").at(-1) ?? ""];
      return this.of(isJsonObject(target) ? target : {}, name, depth + 1);
    }
    const choices = schema["enum"] ?? schema["anyOf"] ?? schema["oneOf"];
    if (isJsonArray(choices) && choices.length > 0) {
      const choice = this.pick(choices);
      return schema["enum"] === undefined && isJsonObject(choice) ? this.of(choice, name, depth + 1) : choice;
    }
    if ("const" in schema) return schema["const"] ?? null;
    const { type } = schema;
    return this.#ofType(isJsonArray(type) ? this.pick(type) : type, schema, { name, depth });
  }

  /** Any JSON, a few levels deep. */
  anything(depth = 0): JsonValue {
    const kind = this.#random.below(depth > 3 ? 4 : 6);
    if (kind === 0) return this.pick([0, -1, 1.5, 1e21, Number.MAX_SAFE_INTEGER, -0]);
    if (kind === 1) return this.pick(WORDS);
    if (kind === 2) return this.#random.chance(0.5);
    if (kind === 3) return null;
    const items = Array.from({ length: this.#random.below(4) }, () => this.anything(depth + 1));
    if (kind === 4) return items;
    return Object.fromEntries(items.map((item) => [this.pick(WORDS), item]));
  }

  #ofType(
    type: JsonValue | undefined,
    schema: JsonObject,
    { name, depth }: { readonly name: string; readonly depth: number },
  ): JsonValue {
    switch (type) {
      case "object":
        return this.#object(schema, depth);
      case "array": {
        const items = isJsonObject(schema["items"]) ? schema["items"] : {};
        const least = typeof schema["minItems"] === "number" ? schema["minItems"] : 0;
        return Array.from({ length: least + this.#random.below(3) }, () => this.of(items, name, depth + 1));
      }
      case "string":
        return schema["minLength"] === undefined ? this.pick(WORDS) : this.pick(WORDS) || "x";
      case "integer":
      case "number": {
        const least = typeof schema["minimum"] === "number" ? schema["minimum"] : 0;
        const most = typeof schema["maximum"] === "number" ? schema["maximum"] : least + 10;
        return least + this.#random.below(Math.min(most - least, 1_000) + 1);
      }
      case "boolean":
        return this.#random.chance(0.5);
      case "null":
        return null;
      default:
        return this.anything(depth);
    }
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    const required = isJsonArray(schema["required"]) ? schema["required"] : [];
    const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
    const members: [string, JsonValue][] = [];
    for (const [name, property] of Object.entries(properties)) {
      const likely = this.#known[name] === undefined ? 0.4 : 0.9;
      const wanted = required.includes(name) || (depth < 6 && this.#random.chance(likely));
      if (wanted) members.push([name, this.of(isJsonObject(property) ? property : {}, name, depth + 1)]);
    }
    if (Object.keys(properties).length === 0 && this.#random.chance(0.5)) {
      members.push([this.pick(WORDS), this.anything(depth + 1)]);
    }
    return Object.fromEntries(members);
  }
}
