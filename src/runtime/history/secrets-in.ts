import { type Ledger, redact } from "../../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonValue, type StoredEvent } from "../../protocol/index.ts";

// Calls whose arguments are held at a time, to find their secrets.
const CALLS_AT_ONCE = 10;

/** The values of the secrets that calls in these events declared. */
export async function secretsIn(
  ledger: Pick<Ledger, "calls">,
  session: string,
  events: readonly StoredEvent[],
): Promise<readonly string[]> {
  const ids = events.flatMap(callIdsIn).map((wireId) => `${session}.${wireId}`);
  const found: string[] = [];
  for (let start = 0; start < ids.length; start += CALLS_AT_ONCE) {
    const calls = await ledger.calls(ids.slice(start, start + CALLS_AT_ONCE));
    for (const { args, originalArgs, secrets } of calls) {
      if (secrets.length === 0) continue;
      for (const given of [args, originalArgs ?? {}]) found.push(...differing(given, redact(given, secrets)));
    }
  }
  return found;
}

/** The ids of the calls that an event makes. */
export function callIdsIn({ content }: StoredEvent): readonly string[] {
  return (content?.parts ?? []).flatMap(({ functionCall }) => functionCall?.id ?? []);
}

/** The scalars of a value that its redacted copy does not have. */
function differing(value: JsonValue, redacted: JsonValue | undefined): readonly string[] {
  if (isJsonArray(value)) {
    return value.flatMap((item, i) => differing(item, isJsonArray(redacted) ? redacted[i] : undefined));
  }
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([key, item]) =>
      differing(item, isJsonObject(redacted) ? redacted[key] : undefined),
    );
  }
  return value === redacted || value === null || typeof value === "boolean" ? [] : [String(value)];
}
