import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { type ArchiveLine, FORMAT } from "./format.ts";

type Shape = { readonly [member: string]: (value: JsonValue | undefined) => boolean };

const text = (value: JsonValue | undefined): boolean => typeof value === "string";
const count = (value: JsonValue | undefined): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const time = (value: JsonValue | undefined): boolean => typeof value === "number";
const flag = (value: JsonValue | undefined): boolean => typeof value === "boolean";
const textOrNull = (value: JsonValue | undefined): boolean => value === null || text(value);
const texts = (value: JsonValue | undefined): boolean =>
  value !== undefined && isJsonArray(value) && value.every(text);
const objects = (value: JsonValue | undefined): boolean =>
  value !== undefined && isJsonArray(value) && value.every(isJsonObject);
const shaped =
  (shape: Shape) =>
  (value: JsonValue | undefined): boolean =>
    isJsonObject(value) && Object.entries(shape).every(([name, check]) => check(ownMember(value, name)));

const HEADER: Shape = {
  archive: (value) => value === FORMAT,
  ledger: text,
  file: (value) => count(value) && value !== 0,
  follows: text,
  checkpoint: shaped({ k: count, hash: text }),
  keyed: flag,
  bodyPrefix: text,
};

const LINES: Shape = {
  checkpoint: shaped({ k: count, lastSeq: count, count, root: text, hash: text, at: time }),
  session: shaped({
    key: text,
    app: text,
    user: text,
    id: text,
    createdAt: time,
    updatedAt: time,
    chain: shaped({ n: count, hash: text }),
    calls: objects,
    confirmations: objects,
  }),
  row: shaped({
    seq: count,
    n: count,
    at: time,
    kinds: texts,
    digest: text,
    hash: text,
    events: count,
    body: textOrNull,
  }),
  end: shaped({ sessions: count, rows: count, digest: text, seal: text }),
};

function ownMember(value: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A line of an archive file; undefined if it is not one: the file may be anything. */
export function parseArchiveLine(line: string): ArchiveLine | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isJsonObject(parsed)) return undefined;
  if (Object.hasOwn(parsed, "archive")) {
    const isHeader = shaped(HEADER)(parsed);
    return isHeader ? (parsed as unknown as ArchiveLine) : undefined;
  }
  const [[kind, value] = ["", undefined], other] = Object.entries(parsed);
  const check = Object.hasOwn(LINES, kind) ? LINES[kind] : undefined;
  return other === undefined && check?.(value) === true ? (parsed as unknown as ArchiveLine) : undefined;
}
