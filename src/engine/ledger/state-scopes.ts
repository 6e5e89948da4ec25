import type { JsonObject } from "../../protocol/index.ts";
import { checkStateKey } from "../common/index.ts";
import type { Write } from "./commit.ts";

type StateWrite = Extract<Write, { kind: "state" }>;

const USER_PREFIX = "user:";
const APP_PREFIX = "app:";
const TEMP_PREFIX = "temp:";

const NOTHING: readonly StateWrite[] = [];

/** Is this key one that every session of the app shares, whoever's it is? */
export function isEverybodys(key: string): boolean {
  return key.startsWith(APP_PREFIX);
}

/**
 * Splits a state change by the ADK's scopes, which stay in the keys. What is `temp:` lives for one run and is not stored.
 * Throws `malformed-request` for an impossible key.
 */
export function stateWrites(delta: JsonObject | undefined): readonly StateWrite[] {
  if (delta === undefined || Object.keys(delta).length === 0) return NOTHING;
  const scopes: Record<"session" | "user" | "app", [string, JsonObject[string]][]> = {
    session: [],
    user: [],
    app: [],
  };
  for (const [key, value] of Object.entries(delta)) {
    if (key.startsWith(TEMP_PREFIX)) continue;
    checkStateKey(key);
    if (key.startsWith(USER_PREFIX)) scopes.user.push([key, value]);
    else if (isEverybodys(key)) scopes.app.push([key, value]);
    else scopes.session.push([key, value]);
  }
  return (["session", "user", "app"] as const)
    .filter((scope) => scopes[scope].length > 0)
    .map((scope) => ({ kind: "state", scope, delta: Object.fromEntries(scopes[scope]) }));
}

/** A state change as events tell of it: without what is never stored. */
export function withoutTemporary(delta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(delta).filter(([key]) => !key.startsWith(TEMP_PREFIX)));
}
