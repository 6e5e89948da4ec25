import { isJsonObject, type JsonValue, parseJson } from "../../protocol/index.ts";
import { parseHead } from "../audit/index.ts";
import { FORMAT, type Receipt } from "./format.ts";
import { isReceiptKey } from "./signing-key.ts";

const MOST_BYTES = 10_000;
const SIGNATURE = /^[\w-]{86}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

type Test = (value: JsonValue | undefined) => boolean;

const text: Test = (value) => typeof value === "string";
const count: Test = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const matches =
  (pattern: RegExp): Test =>
  (value) =>
    typeof value === "string" && pattern.test(value);

const MEMBERS: { readonly [member in keyof Receipt]: Test } = {
  receipt: (value) => value === FORMAT,
  ledger: text,
  target: text,
  number: (value) => count(value) && value !== 0,
  follows: (value) => value === "" || matches(SIGNATURE)(value),
  head: (value) => typeof value === "string" && parseHead(value) !== undefined,
  commits: count,
  at: matches(TIME),
  key: (value) => typeof value === "string" && isReceiptKey(value),
  signature: matches(SIGNATURE),
};

/** A receipt, if this is the text of one and of nothing else: what is not signed must not be in it. */
export function parseReceipt(line: string): Receipt | undefined {
  const parsed = parseJson(line, { maxBytes: MOST_BYTES });
  return parsed.ok ? toReceipt(parsed.value) : undefined;
}

export function toReceipt(value: JsonValue | undefined): Receipt | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined;
  const members = Object.entries(MEMBERS);
  const isWhole =
    Object.keys(value).length === members.length &&
    members.every(([name, test]) => Object.hasOwn(value, name) && test(value[name]));
  if (!isWhole) return undefined;
  // In one order, in which not every database keeps them: what is sent again must be the same text.
  return Object.fromEntries(members.map(([name]) => [name, value[name]])) as unknown as Receipt;
}
