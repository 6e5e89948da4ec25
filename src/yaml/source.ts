import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from "yaml";
import type { JsonValue } from "../protocol/index.ts";
import type { YamlProblem } from "./problem.ts";
import { placeInText } from "./text-place.ts";

/** A file in YAML, and its problems so far. JSON is parsed as YAML. */
export class YamlSource {
  readonly file: string;
  readonly problems: YamlProblem[] = [];
  /** Fields that are known but have no effect here. */
  readonly warnings: YamlProblem[] = [];
  readonly documents: readonly Node[];
  readonly #lines = new LineCounter();
  readonly #text: string;
  readonly #refuseNulls: boolean;

  /** With `refuseNulls`, a member without a value is a problem. By default it counts as left out. */
  constructor(file: string, text: string, { refuseNulls = false }: { readonly refuseNulls?: boolean } = {}) {
    this.file = file;
    this.#text = text;
    this.#refuseNulls = refuseNulls;
    const parsed = parseAllDocuments(text, { lineCounter: this.#lines, prettyErrors: false });
    const documents = Array.isArray(parsed) ? parsed : [];
    for (const { errors } of documents) {
      for (const { pos, message } of errors) this.#add(this.problems, pos[0], message);
    }
    this.documents = documents.flatMap(({ contents }) => (contents === null ? [] : [contents as Node]));
    if (documents.length === 0 || (this.documents.length === 0 && this.problems.length === 0)) {
      this.#add(this.problems, 0, "the file is empty");
    }
  }

  /** Adds a problem at a node. */
  problem(node: Node, message: string): undefined {
    this.#add(this.problems, node.range?.[0] ?? 0, message);
  }

  /** A problem at a node, which is not added. */
  at(node: Node, message: string): YamlProblem {
    return this.#problem(node.range?.[0] ?? 0, message);
  }

  /** Adds a problem in the text of a node, this many characters after its beginning. */
  problemIn(node: Node, offset: number, message: string): undefined {
    this.#add(this.problems, placeInText(this.#text, node, offset), message);
  }

  warning(node: Node, message: string): void {
    this.#add(this.warnings, node.range?.[0] ?? 0, message);
  }

  /** The members of a map, by name. An unknown name is a problem: a misspelt one could leave a tool without a gate. */
  map(node: Node, what: string, known: readonly string[]): Members | undefined {
    if (!isMap(node)) return this.problem(node, `${what} must be a map of ${known.join(", ")}`);
    const members = new Map<string, Node>();
    for (const { key, value } of node.items) {
      const name = (isScalar(key) ? scalarText(key.value) : undefined) ?? "";
      if (value === null || (isScalar(value) && value.value === null)) {
        if (this.#refuseNulls) this.problem(key as Node, `${what}.${name} has no value`);
        continue;
      }
      if (known.includes(name)) members.set(name, value as Node);
      else this.problem(key as Node, unknownMember(what, name, known));
    }
    return new Members(this, node, { what, members });
  }

  text(node: Node, what: string): string | undefined {
    if (isScalar(node) && typeof node.value === "string" && node.value.trim() !== "") return node.value;
    return this.problem(node, `${what} must be a string`);
  }

  /** A number that is whole and at least 1. */
  count(node: Node, what: string): number | undefined {
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
    return this.problem(node, `${what} must be a whole number, 1 or more`);
  }

  /** The members of a map whose names are free. */
  entries(node: Node, what: string): readonly (readonly [string, Node])[] {
    if (!isMap(node)) {
      this.problem(node, `${what} must be a map`);
      return [];
    }
    return node.items.flatMap(({ key, value }) => {
      if (isScalar(key) && typeof key.value === "string" && key.value !== "" && isNode(value))
        return [[key.value, value] as const];
      this.problem(isNode(key) ? key : node, `${what} must have texts as names, each with a value`);
      return [];
    });
  }

  /** A node as JSON. Aliases, and names or numbers that JSON does not have, are problems. */
  json(node: Node, what: string): JsonValue | undefined {
    if (isSeq(node)) return node.items.map((item) => this.json(item as Node, what) ?? null);
    if (isMap(node))
      return Object.fromEntries(
        this.entries(node, what).map(([name, value]) => [name, this.json(value, `${what}.${name}`) ?? null]),
      );
    const value: unknown = isScalar(node) ? node.value : undefined;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    return this.problem(node, `${what} is not JSON; aliases and special numbers are not allowed`);
  }

  /** A time such as `90s`, `12h` or `30d`, in milliseconds. */
  duration(node: Node, what: string): number | undefined {
    const text = this.text(node, what);
    if (text === undefined) return undefined;
    const [, count, unit = ""] = /^([1-9]\d{0,5})([smhdw])$/.exec(text) ?? [];
    const unitMs = UNITS_MS[unit];
    if (count !== undefined && unitMs !== undefined) return Number(count) * unitMs;
    return this.problem(node, `${what} is "${text}"; use a number and a unit, for example 90s, 12h or 30d`);
  }

  /** A list with its entries parsed; invalid entries are left out and reported. */
  list<T>(node: Node, what: string, read: (entry: Node) => T | undefined): readonly T[] {
    if (!isSeq(node)) {
      this.problem(node, `${what} must be a list`);
      return [];
    }
    return node.items.flatMap((entry) => read(entry as Node) ?? []);
  }

  #add(list: YamlProblem[], offset: number, message: string): void {
    list.push(this.#problem(offset, message));
  }

  #problem(offset: number, message: string): YamlProblem {
    const { line, col } = this.#lines.linePos(offset);
    return { file: this.file, line: Math.max(line, 1), column: Math.max(col, 1), message };
  }
}

const UNITS_MS: { readonly [unit: string]: number } = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** The members of one map of a file. */
export class Members {
  readonly node: Node;
  readonly #source: YamlSource;
  readonly #what: string;
  readonly #members: ReadonlyMap<string, Node>;

  constructor(
    source: YamlSource,
    node: Node,
    { what, members }: { readonly what: string; readonly members: ReadonlyMap<string, Node> },
  ) {
    this.#source = source;
    this.node = node;
    this.#what = what;
    this.#members = members;
  }

  get(name: string): Node | undefined {
    return this.#members.get(name);
  }

  /** A member that must be there. */
  need(name: string): Node | undefined {
    return this.get(name) ?? this.#source.problem(this.node, `${this.#what} lacks ${name}`);
  }

  text(name: string): string | undefined {
    const node = this.get(name);
    return node && this.#source.text(node, `${this.#what}.${name}`);
  }

  needText(name: string): string | undefined {
    const node = this.need(name);
    return node && this.#source.text(node, `${this.#what}.${name}`);
  }

  texts(name: string): readonly string[] | undefined {
    const node = this.get(name);
    const what = `${this.#what}.${name}`;
    return node && this.#source.list(node, what, (entry) => this.#source.text(entry, `an entry of ${what}`));
  }

  duration(name: string): number | undefined {
    const node = this.get(name);
    return node && this.#source.duration(node, `${this.#what}.${name}`);
  }

  count(name: string): number | undefined {
    const node = this.get(name);
    return node && this.#source.count(node, `${this.#what}.${name}`);
  }

  flag(name: string): boolean | undefined {
    const node = this.get(name);
    if (node === undefined) return undefined;
    if (isScalar(node) && typeof node.value === "boolean") return node.value;
    return this.#source.problem(node, `${this.#what}.${name} must be true or false`);
  }

  /** Adds a warning for members that have no effect here. */
  warnOf(names: readonly string[], why: string): void {
    for (const name of names) {
      const node = this.get(name);
      if (node !== undefined) this.#source.warning(node, `${this.#what}.${name} ${why}`);
    }
  }

  textMap(name: string): Readonly<Record<string, string>> | undefined {
    const node = this.get(name);
    if (node === undefined) return undefined;
    const what = `${this.#what}.${name}`;
    if (!isMap(node)) return this.#source.problem(node, `${what} must be a map of strings`);
    const entries = node.items.flatMap(({ key, value }) => {
      const text = isScalar(value) ? scalarText(value.value) : undefined;
      if (text === undefined) this.#source.problem(key as Node, `${what}.${String(key)} must be a string`);
      return text === undefined ? [] : [[String(key), text] as const];
    });
    return Object.fromEntries(entries);
  }
}

function scalarText(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
}

function unknownMember(what: string, name: string, known: readonly string[]): string {
  const near = known.find((other) => plain(other) === plain(name) || distance(other, name) <= 2);
  const advice = near === undefined ? `known members: ${known.join(", ")}` : `did you mean ${near}?`;
  return `${what} has no member "${name}"; ${advice}`;
}

function plain(name: string): string {
  return name.replaceAll(/[_-]/g, "").toLowerCase();
}

/** How many letters must be changed, added or left out to get from one word to the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
