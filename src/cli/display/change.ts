import type { JsonValue } from "../../protocol/index.ts";
import { inert } from "../output.ts";

type Value = JsonValue | undefined;

/** A changed value on one line: `2500 → 2000`. */
export function changeOnOneLine(before: Value, after: Value): string {
  return `${flat(before)} → ${flat(after)}`;
}

/** The lines in which two values differ, from the first of them to the last. */
export function changedLines(before: Value, after: Value): string {
  const [old, young] = [linesOf(before), linesOf(after)];
  const most = Math.min(old.length, young.length);
  let start = 0;
  while (start < most && old[start] === young[start]) start += 1;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === young.at(-1 - end)) end += 1;
  return [
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...young.slice(start, young.length - end).map((line) => `+ ${line}`),
  ].join("\n");
}

function flat(value: Value): string {
  return value === undefined ? "nothing" : inert(JSON.stringify(value));
}

function linesOf(value: Value): readonly string[] {
  if (value === undefined) return [];
  return (typeof value === "string" ? value : JSON.stringify(value, null, 2)).split("\n");
}
