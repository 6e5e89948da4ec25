import type { Write } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import type { SqlValue } from "../sql/row.ts";
import { fromJson, toJson } from "../sql/rows.ts";
import type { Database } from "./database.ts";

type StateWrite = Extract<Write, { kind: "state" }>;

const SESSION_NAME = "select app, user from sessions where key = ?";
const STATE = "select value from states where scope = ? and app = ? and user = ? and session = ?";
const SET_STATE =
  "insert into states (scope, app, user, session, value) values (?, ?, ?, ?, ?) " +
  "on conflict do update set value = excluded.value";
const ALL_STATES = `
  select a.value, u.value, t.value from sessions s
  left join states a on a.scope = 'app' and a.app = s.app and a.user = '' and a.session = ''
  left join states u on u.scope = 'user' and u.app = s.app and u.user = s.user and u.session = ''
  left join states t on t.scope = 'session' and t.app = '' and t.user = '' and t.session = s.key
  where s.key = ?`;

/** Lays the delta over what is stored. Inside a write transaction, so no other delta is lost. */
export function mergeState(database: Database, session: string, { scope, delta }: StateWrite): void {
  const place = placeOf(database, session, scope);
  const stored = parsed(database.get(STATE, place)?.[0]);
  // Spread, not assign: a key called `__proto__` is data.
  database.run(SET_STATE, [...place, toJson({ ...stored, ...delta })]);
}

/** Keys stand as they were written, prefix included; the narrower scope wins. */
export function readState(database: Database, session: string): JsonObject {
  const row = database.get(ALL_STATES, [session]);
  return { ...parsed(row?.[0]), ...parsed(row?.[1]), ...parsed(row?.[2]) };
}

function placeOf(database: Database, session: string, scope: StateWrite["scope"]): string[] {
  if (scope === "session") return [scope, "", "", session];
  const [app, user] = database.get(SESSION_NAME, [session]) as readonly [string, string];
  return [scope, app, scope === "user" ? user : "", ""];
}

function parsed(value: SqlValue | undefined): JsonObject {
  return value === undefined || value === null ? {} : (fromJson(value) as JsonObject);
}
