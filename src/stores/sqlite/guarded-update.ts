import type { FrameChange } from "../../engine/index.ts";
import type { StoredCallChange, StoredConfirmationChange } from "../sql/changes.ts";
import type { SqlValue } from "../sql/row.ts";
import { toJson, toJsonOrNull } from "../sql/rows.ts";
import type { Database } from "./database.ts";

/** How a member of a change is written: its column and its encoding. */
type Field = readonly [column: string, encode: (value: never) => SqlValue];
type Fields<Change> = { readonly [member in keyof Required<Change>]: Field };

const plain = (value: SqlValue): SqlValue => value;
const flag = (value: boolean): SqlValue => Number(value);

/** `over` goes with a status that no frame leaves. */
type StoredFrameChange = FrameChange & { readonly over?: boolean };

const FRAME_FIELDS: Fields<StoredFrameChange> = {
  status: ["status", plain],
  turn: ["turn", plain],
  calls: ["calls", toJson],
  open: ["open", plain],
  cursor: ["cursor", toJson],
  output: ["output", toJson],
  agent: ["agent", plain],
  path: ["path", toJson],
  owner: ["owner", plain],
  lost: ["lost", plain],
  over: ["over", flag],
};

const CALL_FIELDS: Fields<StoredCallChange> = {
  status: ["status", plain],
  attempt: ["attempt", plain],
  startedAt: ["started_at", plain],
  endedAt: ["ended_at", plain],
  confirmation: ["confirmation", plain],
  rounds: ["rounds", plain],
  refused: ["refused", flag],
  result: ["result", toJson],
  args: ["args", toJson],
  originalArgs: ["original_args", toJson],
  argsDigest: ["args_digest", plain],
  definitionDigest: ["definition_digest", plain],
  owner: ["owner", plain],
  lost: ["lost", plain],
  argsCut: ["args_cut", toJsonOrNull],
  resultCut: ["result_cut", toJsonOrNull],
};

const CONFIRMATION_FIELDS: Fields<StoredConfirmationChange> = {
  status: ["status", plain],
  votes: ["votes", toJson],
  withdrawal: ["withdrawal", plain],
  shown: ["shown", toJson],
  shownVersion: ["shown_version", plain],
  argsDigest: ["args_digest", plain],
  shownCut: ["shown_cut", toJsonOrNull],
  votesCut: ["votes_cut", toJsonOrNull],
};

/**
 * `update … set <what changes> where <guard>`. A change has one of a handful of shapes; the text of each is
 * made once, so that its prepared statement is found again.
 */
class GuardedUpdate<Change extends object> {
  readonly #table: string;
  readonly #fields: readonly (readonly [member: keyof Change, field: Field])[];
  readonly #texts: Map<string, Map<number, string>> = new Map();

  constructor(table: string, fields: Fields<Change>) {
    this.#table = table;
    this.#fields = Object.entries(fields) as [keyof Change, Field][];
  }

  /** Was there a row that the guard let through? `guard` is a constant; its values come after the change's. */
  run(database: Database, set: Change, guard: string, guardValues: readonly SqlValue[]): boolean {
    const values: SqlValue[] = [];
    let shape = 0;
    let bit = 1;
    for (const [member, [, encode]] of this.#fields) {
      const value = set[member];
      if (value !== undefined) {
        shape |= bit;
        values.push(encode(value as never));
      }
      bit <<= 1;
    }
    values.push(...guardValues);
    return database.run(this.#text(shape, guard), values) === 1;
  }

  #text(shape: number, guard: string): string {
    let texts = this.#texts.get(guard);
    if (texts === undefined) {
      texts = new Map();
      this.#texts.set(guard, texts);
    }
    let text = texts.get(shape);
    if (text === undefined) {
      const columns = this.#fields.filter((_, position) => shape & (1 << position));
      // An update has to set something: a change of nothing still checks its guard.
      const assignments = columns.map(([, [column]]) => `${column} = ?`).join(", ") || "id = id";
      text = `update ${this.#table} set ${assignments} where ${guard}`;
      texts.set(shape, text);
    }
    return text;
  }
}

export const updateFrame: GuardedUpdate<StoredFrameChange> = new GuardedUpdate("frames", FRAME_FIELDS);
export const updateCall: GuardedUpdate<StoredCallChange> = new GuardedUpdate("calls", CALL_FIELDS);
export const updateConfirmation: GuardedUpdate<StoredConfirmationChange> = new GuardedUpdate(
  "confirmations",
  CONFIRMATION_FIELDS,
);
