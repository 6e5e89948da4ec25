import type { Confirmation, JsonObject, JsonValue } from "../../../api/types.ts";
import { lastWord, wordsOf } from "../card/headline.ts";

/** How a text is shown. */
export type TextKind = "plain" | "code" | "sql" | "shell" | "patch" | "url" | "markdown";

const BY_NAME: { readonly [word: string]: TextKind } = {
  sql: "sql",
  command: "shell",
  cmd: "shell",
  shell: "shell",
  script: "shell",
  code: "code",
  patch: "patch",
  diff: "patch",
  markdown: "markdown",
  md: "markdown",
};
const SQL = /^\s*(?:select|insert|update|delete|with|create|alter|drop|truncate|grant|revoke)\b/i;

/** How a text is shown: as the tool's author says, else by the name that the author gave the argument. */
export function textKind(name: string, text: string, layout: Confirmation["layout"]): TextKind {
  const said = layout?.display?.[name];
  if (said === "text" || said === "email" || said === "file") return "plain";
  if (said !== undefined) return said;
  const word = lastWord(name);
  if (word === "query" && SQL.test(text)) return "sql";
  if (/^https?:\/\/\S+$/i.test(text)) return "url";
  return Object.hasOwn(BY_NAME, word) ? (BY_NAME[word] ?? "plain") : "plain";
}

const PAIRS = [
  ["old_text", "new_text"],
  ["old_string", "new_string"],
  ["old_content", "new_content"],
  ["before", "after"],
  ["original", "replacement"],
] as const;

/** An argument with its text. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** Two arguments that are one text before and after: as the author says, else by their names. */
export function diffOf(
  args: JsonObject,
  layout: Confirmation["layout"],
): { readonly before: NamedText; readonly after: NamedText } | undefined {
  const named = layout?.diff === undefined ? PAIRS : [[layout.diff.before, layout.diff.after] as const];
  for (const pair of named) {
    const [before, after] = pair.map((name) => textCalled(args, name));
    if (before !== undefined && after !== undefined) return { before, after };
  }
  return undefined;
}

const FILES = ["path", "file", "file_path", "filename", "file_name"] as const;
const LONGEST_PATH = 300;

/** The argument beside an edit that names its file, by the name that the author gave it. */
export function fileOf(args: JsonObject, edited: readonly string[]): NamedText | undefined {
  const named = FILES.map((name) => textCalled(args, name)).find((one) => one !== undefined);
  if (named === undefined || edited.includes(named.name)) return undefined;
  return named.text.length > LONGEST_PATH ? undefined : named;
}

function textCalled(args: JsonObject, wanted: string): NamedText | undefined {
  const words = wordsOf(wanted).join(" ");
  const name = Object.keys(args).find((other) => other === wanted || wordsOf(other).join(" ") === words);
  const text = name === undefined ? undefined : args[name];
  return name === undefined || typeof text !== "string" ? undefined : { name, text };
}

/** The parts of an e-mail. */
export interface Email {
  readonly head: readonly NamedText[];
  readonly body: NamedText;
}

const HEADS = ["from", "to", "recipient", "recipients", "cc", "bcc", "subject"];
const NOT_TO = new Set(["from", "subject"]);
const BODIES = ["body", "message", "text", "content"];

/** Is this an e-mail? It has somebody it goes to, and a subject or what the author calls an e-mail's body. */
export function emailOf(args: JsonObject, layout: Confirmation["layout"]): Email | undefined {
  const names = Object.keys(args);
  const declared = names.find((name) => layout?.display?.[name] === "email");
  const body = textCalled(args, declared ?? names.find((name) => BODIES.includes(name)) ?? "");
  const head = HEADS.flatMap((name) => headOf(args, name) ?? []);
  const goesSomewhere = head.some(({ name }) => !NOT_TO.has(name));
  const isMail = declared !== undefined || (goesSomewhere && head.some(({ name }) => name === "subject"));
  return body === undefined || !isMail ? undefined : { head, body };
}

function headOf(args: JsonObject, name: string): NamedText | undefined {
  const value = args[name];
  if (typeof value === "string") return { name, text: value };
  return isTexts(value) ? { name, text: value.join(", ") } : undefined;
}

function isTexts(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** The columns of a list of like, flat objects; undefined for any other list. */
export function columnsOf(items: readonly JsonValue[]): readonly string[] | undefined {
  const [first] = items;
  if (items.length < 2 || !isFlat(first)) return undefined;
  const columns = Object.keys(first);
  if (columns.length < 2 || columns.length > 6) return undefined;
  return items.every((item) => isFlat(item) && Object.keys(item).join() === columns.join())
    ? columns
    : undefined;
}

function isFlat(value: JsonValue | undefined): value is JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every(
    (member) => typeof member !== "object" && (typeof member !== "string" || member.length <= 120),
  );
}
