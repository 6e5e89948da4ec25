import { displayText } from "countersign/protocol";
import type { Confirmation } from "../../api/types.ts";

const COLUMNS: readonly (readonly [string, (item: Confirmation) => string | boolean | undefined])[] = [
  ["id", ({ id }) => id],
  ["status", ({ status }) => status],
  ["app", ({ app }) => app],
  ["agents", ({ path }) => path.join(" > ")],
  ["tool", ({ tool }) => tool],
  ["arguments", ({ args, originalArgs }) => JSON.stringify(originalArgs ?? args)],
  ["requester", ({ user }) => user],
  ["requested at", ({ requestedAt }) => requestedAt],
  ["why", ({ why }) => why.join("; ")],
  ["verdict", ({ decision }) => (decision === undefined ? "" : decision.confirmed ? "approved" : "denied")],
  ["decided by", ({ decision }) => decision?.by.id],
  ["authenticated", ({ decision }) => decision?.by.authenticated],
  ["via", ({ decision }) => decision?.via],
  ["decided at", ({ decision }) => decision?.at],
  ["reason", ({ decision }) => decision?.reason],
  ["changed to", ({ args, originalArgs }) => (originalArgs === undefined ? "" : JSON.stringify(args))],
  ["started at", ({ execution }) => execution?.startedAt],
  ["ended at", ({ execution }) => execution?.endedAt],
  ["settled as", ({ settlement }) => settlement?.as],
  ["settled by", ({ settlement }) => settlement?.by.id],
  ["settled at", ({ settlement }) => settlement?.at],
  ["long values cut", ({ truncated }) => (truncated === true ? "yes" : "")],
  ["result", ({ result }) => (result === undefined ? "" : JSON.stringify(result))],
];

/** What a spreadsheet would take for a formula, also behind the blanks that it skips. */
const FORMULA = /^[\s]*[=+\-@\t\r]/;

/** Confirmations as CSV (RFC 4180) that no spreadsheet calculates: what looks like a formula begins with an apostrophe. */
export function toCsv(items: readonly Confirmation[]): string {
  const lines = [
    COLUMNS.map(([name]) => cell(name)),
    ...items.map((item) => COLUMNS.map(([, read]) => cell(read(item)))),
  ];
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

function cell(value: string | boolean | undefined): string {
  const text = displayText(value === undefined ? "" : String(value));
  const inert = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** One confirmation per line, as JSON. */
export function toJsonLines(items: readonly Confirmation[]): string {
  return items.map((item) => `${JSON.stringify(item)}\n`).join("");
}
