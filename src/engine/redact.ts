import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/index.ts";

/** What stands where a secret was. */
export const REDACTED = "[redacted]";

/** A copy of the arguments in which every secret (a JSON pointer; `*` is any item) is replaced. */
export function redact(args: JsonObject, secrets: readonly string[]): JsonObject {
  if (secrets.length === 0) return args;
  const paths = secrets.map((pointer) => pointer.split("/").slice(1).map(unescapePointer));
  return withRedacted(args, paths) as JsonObject;
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
