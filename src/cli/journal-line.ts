import type { JournalRecord } from "../engine/index.ts";
import { isJsonObject, type JsonObject, member, parseJson } from "../protocol/index.ts";
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

/** One line: when, what, which tool, which confirmation, who. */
export function printRecord(output: Output, record: JournalRecord): void {
  const body = recordBody(record);
  const about = body === null ? "(erased; its digest is kept)" : describe(body);
  const time = output.style("dim", absoluteTime(record.at));
  const kind = padTo(cutTo(inert(record.kind), KIND_WIDTH), KIND_WIDTH);
  const room = output.width - absoluteTime(record.at).length - KIND_WIDTH - 4;
  output.line(`${time}  ${kind}  ${cutTo(about, room)}`.trimEnd());
}

function describe(body: JsonObject): string {
  const confirmation = textOf(body, "confirmation");
  const by = member(body, "by");
  const who = isJsonObject(by) ? textOf(by, "id") : textOf(body, "by");
  const reason = textOf(body, "reason");
  return [
    textOf(body, "tool"),
    confirmation === undefined ? undefined : shortId(confirmation),
    who === undefined ? undefined : `by ${who}`,
    textOf(body, "as"),
    reason === undefined ? undefined : `(${reason})`,
  ]
    .filter((text) => text !== undefined)
    .map((text) => inert(text, 60))
    .join(" ");
}

function textOf(body: JsonObject, key: string): string | undefined {
  const value = member(body, key);
  return typeof value === "string" ? value : undefined;
}
