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
import type { SqlValue } from "../sql/row.ts";
import { fromJson } from "../sql/rows.ts";
import type { Database } from "./database.ts";

const FRAME = "select session, turn, calls from frames where id = ?";
const CALLS_OF_TURN =
  "select id from calls where id > ? and id < ? and session = ? and frame = ? and turn = ? order by id";
const LONE_CALL = "select session from calls where id = ? and frame is null";
const OF_TURN = " and c.call in (select value from json_each(?) wanted)";
const SHOWN_TO =
  " and exists (select 1 from json_each(?) wanted cross join viewers v on v.viewer = wanted.value and v.confirmation = c.id)";
const OF_STATUS = " and c.status || ' ' || k.status in (select value from json_each(?) wanted)";

/** From the one that leaves the fewest rows: the first that is given leads, the others are compared. */
const FACETS = ["session", "user", "tool", "agent", "app"] as const;
type Facet = (typeof FACETS)[number];

/** What a confirmation `c` must be, as SQL. */
export interface Conditions {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** A filter in terms of the tables. */
export class Narrowing {
  readonly #facets: ReadonlyMap<Facet, string>;
  readonly #calls: readonly string[] | undefined;
  readonly #viewers: readonly string[] | undefined;

  constructor(filter: ConfirmationFilter, turn: TurnCalls | undefined) {
    const named = turn === undefined ? filter : { ...filter, session: turn.session };
    this.#facets = new Map(
      FACETS.flatMap((facet) => (named[facet] === undefined ? [] : [[facet, named[facet]] as const])),
    );
    this.#calls = turn?.calls;
    this.#viewers = filter.viewers;
  }

  get session(): string | undefined {
    return this.#facets.get("session");
  }

  /** The part of the inbox that holds all that can fit. */
  get lead(): readonly [facet: string, value: string] {
    return [...this.#facets][0] ?? ["", ""];
  }

  /** What is left to compare for those that the lead gives. */
  get besideLead(): Conditions {
    return this.#shownToViewers(this.#conditions([...this.#facets].slice(1)));
  }

  get all(): Conditions {
    return this.#shownToViewers(this.facets);
  }

  /** All but who may see it. */
  get facets(): Conditions {
    return this.#conditions([...this.#facets]);
  }

  #shownToViewers({ sql, values }: Conditions): Conditions {
    if (this.#viewers === undefined) return { sql, values };
    return { sql: sql + SHOWN_TO, values: [...values, JSON.stringify(this.#viewers)] };
  }

  #conditions(facets: readonly (readonly [Facet, string])[]): Conditions {
    const turn = this.#calls === undefined ? [] : [JSON.stringify(this.#calls)];
    return {
      sql: facets.map(([name]) => ` and c.${name} = ?`).join("") + (turn.length > 0 ? OF_TURN : ""),
      values: [...facets.map(([, value]) => value), ...turn],
    };
  }
}

/** Undefined where nothing can fit: a turn that is not there, or is not of the session asked for. */
export function narrow(database: Database, filter: ConfirmationFilter): Narrowing | undefined {
  if (filter.turn === undefined) return new Narrowing(filter, undefined);
  const turn = readTurn(database, filter.turn);
  if (turn === undefined || (filter.session ?? turn.session) !== turn.session) return undefined;
  return new Narrowing(filter, turn);
}

/** Of a call `k` and its confirmation `c`, as they are shown together. */
export function ofStatus(wanted: readonly ShownStatus[] | undefined): Conditions {
  if (wanted === undefined) return { sql: "", values: [] };
  const pairs = CONFIRMATION_STATUSES.flatMap((confirmation) =>
    CALL_STATUSES.filter((call) => wanted.includes(shownStatus(confirmation, call))).map(
      (call) => `${confirmation} ${call}`,
    ),
  );
  return { sql: OF_STATUS, values: [JSON.stringify(pairs)] };
}

const CONFIRMATION_STATUSES = Object.keys(CONFIRMATION_TRANSITIONS) as ConfirmationStatus[];
const CALL_STATUSES = Object.keys(CALL_TRANSITIONS) as CallStatus[];

interface TurnCalls {
  readonly session: string;
  readonly calls: readonly string[];
}

// `<frame>.<number>`, or the id of a call that no model made. A frame's row names only its newest turn's calls.
function readTurn(database: Database, turn: string): TurnCalls | undefined {
  const dot = turn.lastIndexOf(".");
  const frame = turn.slice(0, Math.max(dot, 0));
  const number = turn.slice(dot + 1);
  const row = database.get(FRAME, [frame]);
  if (row === undefined) {
    const session = database.get(LONE_CALL, [turn])?.[0];
    return session === undefined ? undefined : { session: session as string, calls: [turn] };
  }
  const session = row[0] as string;
  if (String(row[1]) === number) return { session, calls: fromJson(row[2]) as readonly string[] };
  const calls = database.all(CALLS_OF_TURN, [...callRange(session), session, frame, Number(number)]);
  return { session, calls: calls.map(([id]) => id as string) };
}
