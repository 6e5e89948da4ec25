import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { copyJson } from "./copy-json.ts";
import { sameJson } from "./same-json.ts";

/** Replaces a secret. */
export const REDACTED = "[redacted]";

/** A copy of the arguments in which every secret (a JSON pointer; `*` is any item) is replaced. */
export function redact(args: JsonObject, secrets: readonly string[]): JsonObject {
  if (secrets.length === 0) return copyJson(args);
  return withRedacted(args, [placesOf(secrets)]) as JsonObject;
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
  const lost: string[] = [];
  const at = { here: [placesOf(secrets)], place: [], lost };
  const args = withRestored(sent, original, at) as JsonObject;
  const [field] = lost;
  return field === undefined ? { ok: true, args } : { ok: false, field };
}

/** Where secrets are below a place: by key, and under `*` by any. A tree, so that each is looked for only where it can be. */
interface Places {
  isSecret: boolean;
  readonly below: Map<string, Places>;
}

interface Restoring {
  readonly here: readonly Places[];
  readonly place: readonly string[];
  /** The place of a secret that cannot be known. */
  readonly lost: string[];
}

function withRestored(sent: JsonValue, original: JsonValue | undefined, at: Restoring): JsonValue {
  const { here, place, lost } = at;
  if (here.length === 0) return sent;
  if (isSecret(here)) {
    if (sent !== REDACTED) return sent;
    if (original === undefined) lost.push(place.join("."));
    return original ?? sent;
  }
  const under = (key: string): Restoring => ({ lost, place: [...place, key], here: below(here, key) });
  if (isJsonArray(sent)) {
    const before = rowsInPlace(sent, original, here);
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
  here: readonly Places[],
): readonly (JsonValue | undefined)[] {
  if (!isJsonArray(original) || original.length !== sent.length) return [];
  const [shown, back] = [original, sent].map((rows) => withRedacted(rows, here) as readonly JsonValue[]);
  const asShown = original.map((_, index) => sameJson(shown?.[index], back?.[index]));
  const edited = asShown.filter((same) => !same).length;
  return original.map((row, index) => (edited < 2 || asShown[index] === true ? row : undefined));
}

function withRedacted(value: JsonValue, here: readonly Places[]): JsonValue {
  if (isSecret(here)) return REDACTED;
  if (here.length === 0) return copyJson(value);
  if (isJsonArray(value)) return value.map((item, index) => withRedacted(item, below(here, String(index))));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withRedacted(item, below(here, key))]),
  );
}

function placesOf(secrets: readonly string[]): Places {
  const root = newPlaces();
  for (const pointer of secrets) {
    let at = root;
    for (const key of pointer.split("/").slice(1).map(unescapePointer)) {
      const next = at.below.get(key) ?? newPlaces();
      at.below.set(key, next);
      at = next;
    }
    at.isSecret = true;
  }
  return root;
}

function newPlaces(): Places {
  return { isSecret: false, below: new Map() };
}

function isSecret(here: readonly Places[]): boolean {
  return here.some((places) => places.isSecret);
}

function below(here: readonly Places[], key: string): readonly Places[] {
  const keys = key === "*" ? [key] : [key, "*"];
  return here.flatMap((places) => keys.flatMap((name) => places.below.get(name) ?? []));
}

function unescapePointer(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}
