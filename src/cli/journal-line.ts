import type { JournalRecord } from "../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonObject, member, parseJson } from "../protocol/index.ts";
import { absoluteTime } from "./duration.ts";
import { shortId } from "./find-confirmation.ts";
import { inert, type Output } from "./output.ts";
import { cutTo, padTo } from "./text-width.ts";

const KIND_WIDTH = 22;

/** What a record says; null once it was erased. */
export function recordBody({ body }: JournalRecord): JsonObject | null {
  const parsed = body === null ? undefined : parseJson(body);
  return parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : null;
}

/** One line: when, what, which tool, which confirmation, who; without what all lines would have in common. */
export function printRecord(output: Output, record: JournalRecord, common: readonly string[] = []): void {
  const body = recordBody(record);
  const about = body === null ? "(erased; its digest is kept)" : describe(body, common);
  const time = output.style("dim", absoluteTime(record.at));
  const kind = padTo(cutTo(inert(record.kind), KIND_WIDTH), KIND_WIDTH);
  const room = output.width - absoluteTime(record.at).length - KIND_WIDTH - 4;
  output.line(`${time}  ${kind}  ${cutTo(about, room)}`.trimEnd());
}

function describe(body: JsonObject, common: readonly string[]): string {
  const confirmation = textOf(body, "confirmation");
  const by = member(body, "by");
  const who = isJsonObject(by) ? textOf(by, "id") : textOf(body, "by");
  const reason = textOf(body, "reason");
  return [
    textOf(body, "tool") ?? startedTools(body),
    confirmation === undefined ? undefined : shortId(confirmation),
    who === undefined ? undefined : `by ${who}`,
    textOf(body, "as"),
    reason === undefined ? undefined : `(${reason})`,
  ]
    .filter((text) => text !== undefined)
    .filter((text) => !common.includes(text))
    .map((text) => inert(text, 60))
    .join(" ");
}

/** Calls of one turn start in one record. */
function startedTools(body: JsonObject): string | undefined {
  const calls = member(body, "calls");
  if (!isJsonArray(calls)) return undefined;
  return calls.flatMap((call) => (isJsonObject(call) ? (textOf(call, "tool") ?? []) : [])).join(", ");
}

/** Is the record about this call, or a question about it? */
export function isAbout(record: JournalRecord, callId: string): boolean {
  const body = recordBody(record);
  if (body === null) return false;
  const calls = member(body, "calls");
  const about = [body, ...(isJsonArray(calls) ? calls : [])];
  return about.some((each) => isJsonObject(each) && member(each, "call") === callId);
}

function textOf(body: JsonObject, key: string): string | undefined {
  const value = member(body, key);
  return typeof value === "string" ? value : undefined;
}
