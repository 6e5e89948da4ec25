import {
  CALL_TRANSITIONS,
  type CallStatus,
  CONFIRMATION_TRANSITIONS,
  type ConfirmationFilter,
  type ConfirmationStatus,
  type ShownStatus,
  shownStatus,
} from "../../engine/index.ts";
import { callRange } from "../sql/call-range.ts";
import { fromJson } from "../sql/rows.ts";
import type { Database } from "./database.ts";
import type { PostgresValue } from "./driver.ts";

const FRAME = "select session, turn, calls from countersign.frames where id = $1";
const CALLS_OF_TURN =
  "select id from countersign.calls where id > $1 and id < $2 and session = $3 and frame = $4 and turn = $5 order by id";
const LONE_CALL = "select session from countersign.calls where id = $1 and frame is null";

const FACETS = ["session", "user", "tool", "agent", "app"] as const;

/** The values of a statement, and their places in its text. */
export class Values {
  readonly all: PostgresValue[] = [];

  /** Adds a value; resolves to what stands for it in the text. */
  add(value: PostgresValue): string {
    this.all.push(value);
    return `$${this.all.length}`;
  }
}

/** A filter in terms of the tables. Undefined where nothing can fit: a turn that is not there, or elsewhere. */
export interface Narrowing {
  readonly facets: readonly (readonly [column: string, value: string])[];
  readonly calls: readonly string[] | undefined;
  readonly viewers: readonly string[] | undefined;
}

export async function narrow(database: Database, filter: ConfirmationFilter): Promise<Narrowing | undefined> {
  database.assertOpen();
  const turn = filter.turn === undefined ? undefined : await readTurn(database, filter.turn);
  if (filter.turn !== undefined) {
    if (turn === undefined || (filter.session ?? turn.session) !== turn.session) return undefined;
  }
  const named = turn === undefined ? filter : { ...filter, session: turn.session };
  const facets = FACETS.flatMap((facet) => {
    const value = named[facet];
    return value === undefined ? [] : [[`"${facet}"`, value] as const];
  });
  return { facets, calls: turn?.calls, viewers: filter.viewers };
}

/** As conditions on a row of `inbox` or `confirmations` under this alias. */
export function conditionsOn(alias: string, { facets, calls, viewers }: Narrowing, values: Values): string {
  const parts = facets.map(([column, value]) => ` and ${alias}.${column} = ${values.add(value)}`);
  if (calls !== undefined) parts.push(` and ${alias}.call = any(${values.add(calls)}::text[])`);
  if (viewers !== undefined) {
    const shown = `select 1 from countersign.viewers v where v.id = ${alias}.id`;
    parts.push(` and exists (${shown} and v.viewer = any(${values.add(viewers)}::text[]))`);
  }
  return parts.join("");
}

/** Is all of it in one session? */
export function isOfOneSession({ facets }: Narrowing): boolean {
  return facets.some(([column]) => column === '"session"');
}

/** Of a call `k` and its confirmation `c`, as they are shown together. */
export function ofStatus(wanted: readonly ShownStatus[] | undefined, values: Values): string {
  if (wanted === undefined) return "";
  const pairs = CONFIRMATION_STATUSES.flatMap((confirmation) =>
    CALL_STATUSES.filter((call) => wanted.includes(shownStatus(confirmation, call))).map(
      (call) => `${confirmation} ${call}`,
    ),
  );
  return ` and c.status || ' ' || k.status = any(${values.add(pairs)}::text[])`;
}

const CONFIRMATION_STATUSES = Object.keys(CONFIRMATION_TRANSITIONS) as ConfirmationStatus[];
const CALL_STATUSES = Object.keys(CALL_TRANSITIONS) as CallStatus[];

interface TurnCalls {
  readonly session: string;
  readonly calls: readonly string[];
}

// `<frame>.<number>`, or the id of a call that no model made. A frame's row names only its newest turn's calls.
async function readTurn(database: Database, turn: string): Promise<TurnCalls | undefined> {
  const dot = turn.lastIndexOf(".");
  const frame = turn.slice(0, Math.max(dot, 0));
  const number = turn.slice(dot + 1);
  const row = await database.get(FRAME, [frame]);
  if (row === undefined) {
    const session = (await database.get(LONE_CALL, [turn]))?.[0];
    return session === undefined ? undefined : { session: session as string, calls: [turn] };
  }
  const session = row[0] as string;
  if (String(row[1]) === number) return { session, calls: fromJson(row[2]) as readonly string[] };
  if (!/^\d{1,9}$/.test(number)) return undefined;
  const calls = await database.all(CALLS_OF_TURN, [...callRange(session), session, frame, Number(number)]);
  return { session, calls: calls.map(([id]) => id as string) };
}
