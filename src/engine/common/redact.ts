import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { copyJson } from "./copy-json.ts";
import { sameJson } from "./same-json.ts";

/** Replaces a secret. */
export const REDACTED = "[redacted]";

/** A copy of the arguments in which every secret (a JSON pointer; `*` is any item) is replaced. */
export function redact(args: JsonObject, secrets: readonly string[]): JsonObject {
  if (secrets.length === 0) return copyJson(args);
  const paths = secrets.map((pointer) => pointer.split("/").slice(1).map(unescapePointer));
  return withRedacted(args, paths) as JsonObject;
}

/** Arguments with their secrets restored, or the first place that says `[redacted]` without a known secret. */
export type Unredacted =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly field: string };

/**
 * Restores secrets in arguments that were shown redacted and sent back. Refused if a secret cannot be known: there was
 * none in that place, or the rows of its list may have changed places. If one row differs, it was edited in place; if
 * two differ, they may have been swapped.
 */
export function unredact(sent: JsonObject, original: JsonObject, secrets: readonly string[]): Unredacted {
  if (secrets.length === 0) return { ok: true, args: sent };
  const paths = secrets.map((pointer) => pointer.split("/").slice(1).map(unescapePointer));
  const lost: string[] = [];
  const args = withRestored(sent, original, { paths, place: [], lost }) as JsonObject;
  const [field] = lost;
  return field === undefined ? { ok: true, args } : { ok: false, field };
}

interface Restoring {
  readonly paths: readonly (readonly string[])[];
  readonly place: readonly string[];
  /** The place of a secret that cannot be known. */
  readonly lost: string[];
}

function withRestored(sent: JsonValue, original: JsonValue | undefined, at: Restoring): JsonValue {
  const { paths, place, lost } = at;
  if (paths.length === 0) return sent;
  if (paths.some((path) => path.length === 0)) {
    if (sent !== REDACTED) return sent;
    if (original === undefined) lost.push(place.join("."));
    return original ?? sent;
  }
  const pathsAt = below(paths);
  const under = (key: string): Restoring => ({ lost, place: [...place, key], paths: pathsAt(key) });
  if (isJsonArray(sent)) {
    const before = rowsInPlace(sent, original, paths);
    return sent.map((item, index) => withRestored(item, before[index], under(String(index))));
  }
  if (!isJsonObject(sent)) return sent;
  const before = isJsonObject(original) ? original : {};
  return Object.fromEntries(
    Object.entries(sent).map(([key, item]) => [key, withRestored(item, member(before, key), under(key))]),
  );
}

/** The rows of the original that certainly have not moved. */
function rowsInPlace(
  sent: readonly JsonValue[],
  original: JsonValue | undefined,
  paths: Restoring["paths"],
): readonly (JsonValue | undefined)[] {
  if (!isJsonArray(original) || original.length !== sent.length) return [];
  const [shown, back] = [original, sent].map((rows) => withRedacted(rows, paths) as readonly JsonValue[]);
  const asShown = original.map((_, index) => sameJson(shown?.[index], back?.[index]));
  const edited = asShown.filter((same) => !same).length;
  return original.map((row, index) => (edited < 2 || asShown[index] === true ? row : undefined));
}

function withRedacted(value: JsonValue, paths: readonly (readonly string[])[]): JsonValue {
  if (paths.some((path) => path.length === 0)) return REDACTED;
  const pathsAt = below(paths);
  if (Array.isArray(value)) {
    return value.map((item: JsonValue, index) => withRedacted(item, pathsAt(String(index))));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withRedacted(item, pathsAt(key))]),
  );
}

/** Which paths go on below each key. They are sorted by key once: both may be many. */
function below(paths: readonly (readonly string[])[]): (key: string) => readonly (readonly string[])[] {
  const byHead = Map.groupBy(paths, ([head]) => head);
  const anywhere = byHead.get("*") ?? [];
  return (key) => {
    const own = key === "*" ? [] : (byHead.get(key) ?? []);
    return [...own, ...anywhere].map((path) => path.slice(1));
  };
}

function unescapePointer(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}
