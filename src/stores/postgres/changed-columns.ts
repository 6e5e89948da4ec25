import type { CallChange, ConfirmationChange, FrameChange } from "../../engine/index.ts";
import {
  type StoredCallChange,
  type StoredConfirmationChange,
  withCutCall,
  withCutConfirmation,
} from "../sql/changes.ts";
import type { SqlValue } from "../sql/row.ts";
import { toJson, toJsonOrNull } from "../sql/rows.ts";

/** Columns by name, as the schema's functions take them. */
export interface Columns {
  readonly [column: string]: SqlValue;
}

type Field = readonly [column: string, encode: (value: never) => SqlValue];
type Fields<Change> = { readonly [member in keyof Required<Change>]: Field };

const plain = (value: SqlValue): SqlValue => value;
const flag = (value: boolean): SqlValue => Number(value);

const FRAME_FIELDS: Fields<FrameChange> = {
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

/** The columns that a change names; those it leaves out stay as they are. */
export const frameColumns = (set: FrameChange): Columns => encode(FRAME_FIELDS, set);
export const callColumns = (set: CallChange): Columns => encode(CALL_FIELDS, withCutCall(set));
export const confirmationColumns = (set: ConfirmationChange): Columns =>
  encode(CONFIRMATION_FIELDS, withCutConfirmation(set));

function encode<Change extends object>(fields: Fields<Change>, set: Change): Columns {
  const columns: Record<string, SqlValue> = {};
  for (const member in set) {
    const value = set[member];
    if (value === undefined) continue;
    const [column, write] = fields[member];
    columns[column] = write(value as never);
  }
  return columns;
}
