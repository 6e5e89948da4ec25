import type { Confirmation, JsonObject, JsonValue } from "../../../api/types.ts";
import { asObject } from "../forms/form-fields.ts";

/** An argument that tells at a glance what a call is about. */
export interface Fact {
  readonly name: string;
  readonly text: string;
}

/** Names that say how much, the plainest first, and how that is told; a name counts by its last word, as in `totalAmount`. */
const AMOUNTS: { readonly [word: string]: (number: string, unit: string, value: unknown) => string } = {
  amount: withUnit,
  total: withUnit,
  sum: withUnit,
  price: withUnit,
  cost: withUnit,
  value: withUnit,
  quantity: (number) => `${number} ×`,
  count: (number) => `${number} ×`,
  days: (number) => `${number} days`,
  hours: (number) => `${number} hours`,
  bytes: (number) => `${number} bytes`,
  limit: (number) => `limit ${number}`,
  budget: (number) => `budget ${number}`,
};
/** Names that say to whom or on what. */
const TARGETS = [
  "to",
  "recipient",
  "target",
  "destination",
  "path",
  "file",
  "filename",
  "filepath",
  "email",
  "account",
  "iban",
  "customer",
  "user",
  "employee",
  "host",
  "url",
  "repository",
  "repo",
  "branch",
  "table",
  "database",
  "function",
  "service",
  "channel",
  "resource",
  "item",
  "product",
  "id",
  "name",
  "title",
  "subject",
  "command",
  "query",
  "sql",
  "statement",
  "purpose",
  "reason",
];
const COMPANIONS = ["currency", "unit"];
const LONGEST = 80;

/** What and how much, from the arguments: for the head of a card, never instead of them. */
export function headline(args: JsonObject): { readonly target?: Fact; readonly amount?: Fact } {
  const plain = Object.entries(args)
    .map(([name, value]) => [name, isTexts(value) ? value.join(", ") : value] as const)
    .filter(([, value]) => typeof value === "number" || (typeof value === "string" && value.trim() !== ""));
  const amount = pick(plain, Object.keys(AMOUNTS), (value) => /\d/.test(String(value)));
  const rest = plain.filter(([name]) => name !== amount?.name);
  const target = pick(rest, TARGETS, () => true) ?? firstQuestion(args);
  const unit = pick(rest, COMPANIONS, (value) => typeof value === "string" && value.length <= 8);
  return {
    ...(target === undefined ? {} : { target }),
    ...(amount === undefined
      ? {}
      : { amount: { ...amount, text: told(amount, unit?.text ?? "", args[amount.name]) } }),
  };
}

/** What it is about in a few words, for one line: `reimburse 2,500 EUR · ana`. */
export function shortSubject({ tool, args, user }: Pick<Confirmation, "tool" | "args" | "user">): string {
  const { amount, target } = headline(args);
  const [first = target?.text] = [amount?.text];
  return `${first === undefined ? tool : `${tool} ${first}`} · ${user}`;
}

/** What is asked first, where questions are all there is. */
function firstQuestion({ questions }: JsonObject): Fact | undefined {
  const [first] = Array.isArray(questions) ? (questions as readonly unknown[]) : [];
  const question = asObject(first)?.["question"];
  return typeof question === "string" && question.trim() !== "" ? toFact("asks", question) : undefined;
}

function told({ name, text }: Fact, unit: string, value: unknown): string {
  return AMOUNTS[lastWord(name)]?.(text, unit, value) ?? text;
}

/** With the digits that the currency has: `10.50 USD`. */
function withUnit(number: string, unit: string, value: unknown): string {
  if (unit === "") return number;
  const digits = typeof value === "number" && !Number.isInteger(value) ? digitsOf(unit) : undefined;
  return `${digits === undefined ? number : localised(value as number, digits)} ${unit}`;
}

function digitsOf(currency: string): number | undefined {
  if (!/^[A-Z]{3}$/.test(currency)) return undefined;
  return new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits;
}

function localised(value: number, digits: number): string {
  // Never rounded: what has more digits than its currency keeps them.
  return value.toLocaleString(undefined, { minimumFractionDigits: digits, maximumFractionDigits: 20 });
}

function pick(
  entries: readonly (readonly [string, unknown])[],
  wanted: readonly string[],
  fits: (value: unknown) => boolean,
): Fact | undefined {
  for (const word of wanted) {
    const found = entries.find(([name, value]) => lastWord(name) === word && fits(value));
    if (found !== undefined) return toFact(found[0], found[1]);
  }
  return undefined;
}

function isTexts(value: JsonValue): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function toFact(name: string, value: unknown): Fact {
  const text =
    typeof value === "number"
      ? value.toLocaleString(undefined, { maximumFractionDigits: 20 })
      : (hostOf(String(value)) ?? String(value).trim());
  const [line = ""] = text.split("\n", 1);
  const start = Array.from(line).slice(0, LONGEST).join("");
  return { name, text: start === text ? text : `${start}…` };
}

/** Where an address leads, whatever it looks like; all of it stands among the arguments. */
function hostOf(text: string): string | undefined {
  if (!/^https?:\/\/\S+$/i.test(text)) return undefined;
  return URL.parse(text)?.host;
}

/** The last word of a name, as in `totalAmount`. */
export function lastWord(name: string): string {
  return wordsOf(name).at(-1) ?? "";
}

/** The words of a name in snake or camel case. */
export function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .split(/[\s_.:/-]+/)
    .filter(Boolean)
    .map((word) => word.toLowerCase());
}
