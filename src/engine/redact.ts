import { isJsonObject, type JsonObject, type JsonValue, member } from "../protocol/index.ts";

/** What stands where a secret was. */
export const REDACTED = "[redacted]";

/** A copy of the arguments in which every secret (a JSON pointer; `*` is any item) is replaced. */
export function redact(args: JsonObject, secrets: readonly string[]): JsonObject {
  if (secrets.length === 0) return args;
  const paths = secrets.map((pointer) => pointer.split("/").slice(1).map(unescapePointer));
  return withRedacted(args, paths) as JsonObject;
}

/** Arguments that were shown redacted and came back: where a secret still stands replaced, it is what it was. */
export function unredact(sent: JsonObject, original: JsonObject, secrets: readonly string[]): JsonObject {
  if (secrets.length === 0) return sent;
  const paths = secrets.map((pointer) => pointer.split("/").slice(1).map(unescapePointer));
  return withRestored(sent, original, paths) as JsonObject;
}

function withRestored(
  sent: JsonValue,
  original: JsonValue | undefined,
  paths: readonly (readonly string[])[],
): JsonValue {
  if (paths.some((path) => path.length === 0)) return sent === REDACTED ? (original ?? sent) : sent;
  if (Array.isArray(sent)) {
    const before: readonly JsonValue[] = Array.isArray(original) ? original : [];
    return sent.map((item: JsonValue, index) =>
      withRestored(item, before[index], below(paths, String(index))),
    );
  }
  if (!isJsonObject(sent)) return sent;
  const before = isJsonObject(original) ? original : {};
  return Object.fromEntries(
    Object.entries(sent).map(([key, item]) => [
      key,
      withRestored(item, member(before, key), below(paths, key)),
    ]),
  );
}

function withRedacted(value: JsonValue, paths: readonly (readonly string[])[]): JsonValue {
  if (paths.some((path) => path.length === 0)) return REDACTED;
  if (Array.isArray(value)) {
    return value.map((item: JsonValue, index) => withRedacted(item, below(paths, String(index))));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withRedacted(item, below(paths, key))]),
  );
}

function below(paths: readonly (readonly string[])[], key: string): readonly (readonly string[])[] {
  return paths.filter(([head]) => head === key || head === "*").map((path) => path.slice(1));
}

function unescapePointer(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}
