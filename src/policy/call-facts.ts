import type { PolicyCall } from "../engine/index.ts";
import type { JsonObject, JsonValue } from "../protocol/index.ts";
import type { LocalTime, TimeZone } from "./local-time.ts";

/** A call as conditions see it. */
export interface CallFacts {
  readonly args: JsonObject;
  readonly state: JsonObject;
  readonly agent: string;
  readonly app: string;
  readonly tool: { readonly name: string; readonly server: string; readonly annotations: JsonObject };
  readonly user: { readonly id: string; readonly roles: readonly string[]; readonly authenticated: boolean };
  readonly time: LocalTime;
}

export function factsOf(call: PolicyCall, zone: TimeZone): CallFacts {
  return new FactsOfCall(call, zone);
}

/** A class, because an object with a getter of its own takes long to make. */
class FactsOfCall implements CallFacts {
  readonly args: JsonObject;
  readonly state: JsonObject;
  readonly agent: string;
  readonly app: string;
  readonly tool: CallFacts["tool"];
  readonly user: CallFacts["user"];
  readonly #at: number;
  readonly #zone: TimeZone;
  #time: LocalTime | undefined;

  constructor(call: PolicyCall, zone: TimeZone) {
    this.args = call.args;
    this.state = call.state;
    this.agent = call.agent;
    this.app = call.app;
    this.tool = { name: call.tool, server: call.source ?? "", annotations: call.annotations ?? {} };
    this.user = { id: call.user, roles: call.roles, authenticated: call.authenticated };
    this.#at = call.at;
    this.#zone = zone;
  }

  /** Most conditions do not read it. */
  get time(): LocalTime {
    this.#time ??= this.#zone.at(this.#at);
    return this.#time;
  }
}

const LONGEST_FACT = 500;

/** What a condition reads, such as `args.amount`. */
export interface FactPath {
  readonly name: string;
  readonly variable: string;
  readonly members: readonly string[];
}

/** What a rule reads. */
export interface FactPaths {
  /** The same for rules that read the same. */
  readonly key: string;
  readonly paths: readonly FactPath[];
}

export function factPaths(reads: readonly (readonly string[])[]): FactPaths {
  const paths = reads.map(factPath);
  return { key: JSON.stringify(reads), paths };
}

function factPath([variable = "", ...members]: readonly string[]): FactPath {
  return { name: [variable, ...members].join("."), variable, members };
}

/**
 * What conditions have read of one call, for the record: without secrets, and the beginning of what is long. Many rules
 * read the same, so each value is copied once, and what they read is put together once.
 */
export class ReadFacts {
  readonly #call: PolicyCall;
  readonly #facts: CallFacts;
  readonly #seen = new Map<string, JsonValue | undefined>();
  readonly #together = new Map<string, JsonObject>();

  constructor(call: PolicyCall, facts: CallFacts) {
    this.#call = call;
    this.#facts = facts;
  }

  at({ key, paths }: FactPaths): JsonObject {
    const known = this.#together.get(key);
    if (known !== undefined) return known;
    const found: Record<string, JsonValue> = {};
    for (const path of paths) {
      const value = this.#value(path);
      if (value !== undefined) found[path.name] = value;
    }
    this.#together.set(key, found);
    return found;
  }

  #value({ name, variable, members }: FactPath): JsonValue | undefined {
    if (this.#seen.has(name)) return this.#seen.get(name);
    const from: unknown = variable === "args" ? this.#call.shown : this.#facts[variable as keyof CallFacts];
    const value = valueAt(from, members);
    const copy = value === undefined ? undefined : short(value);
    this.#seen.set(name, copy);
    return copy;
  }
}

/** The value under these members, if there is one. */
export function valueAt(from: unknown, members: readonly string[]): unknown {
  let value = from;
  for (const name of members) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as { readonly [name: string]: unknown })[name];
  }
  return value;
}

function short(value: unknown): JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "number") return value;
  const text = JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? Number(part) : part));
  if (text.length <= LONGEST_FACT) return JSON.parse(text) as JsonValue;
  return `${text.slice(0, LONGEST_FACT).toWellFormed()}…`;
}
