import type { Write } from "../../engine/index.ts";
import {
  FRAME_COLUMNS,
  JOURNAL_COLUMNS,
  STORED_CALL_COLUMNS,
  STORED_CONFIRMATION_COLUMNS,
} from "../sql/columns.ts";
import type { SqlValue } from "../sql/row.ts";
import { fromCall, fromConfirmation, fromFrame, fromJournal, NO_DEADLINE, toJson } from "../sql/rows.ts";
import { type Columns, callColumns, confirmationColumns, frameColumns } from "./changed-columns.ts";
import { NOW } from "./now.ts";

/** What stands for the next value in the text, as a value of this type. */
export type Next = (type?: string) => string;

/** A part of a statement. Those of one shape have one text, which takes so many values. */
export interface Piece {
  readonly shape: string;
  readonly values: readonly SqlValue[];
  readonly text: (next: Next) => string;
  /** Must change one row, or all is refused. */
  readonly guarded?: boolean;
}

// Of all tables; whatever is not named is text.
const TYPES: { readonly [column: string]: string } = {
  turn: "integer",
  ord: "integer",
  open: "integer",
  attempt: "integer",
  lost: "integer",
  rounds: "integer",
  round: "integer",
  shown_version: "integer",
  repeatable: "smallint",
  unparsed: "smallint",
  refused: "smallint",
  started_at: "bigint",
  ended_at: "bigint",
  requested_at: "bigint",
  deadline: "bigint",
  seq: "bigint",
  n: "bigint",
  at: "bigint",
};
const INBOX_COLUMNS = ["id", "call", "session", "app", "agent", "user", "tool", "deadline"] as const;

export type WriteOf<Kind extends Write["kind"]> = Extract<Write, { kind: Kind }>;

/**
 * A write as parts of one statement that reads from `moved`, the session's row as this commit moved it. Undefined for
 * what a commit seldom has.
 */
export function toPieces(write: Exclude<Write, { kind: "event" | "journal" }>): readonly Piece[] | undefined {
  switch (write.kind) {
    case "call-insert":
      return [insertPiece("calls", STORED_CALL_COLUMNS, fromCall(write.call))];
    case "frame-insert":
      return [insertPiece("frames", FRAME_COLUMNS, fromFrame(write.frame))];
    case "confirmation-insert":
      return confirmationPieces(write.confirmation);
    case "frame-update":
      return [updatePiece("frames", frameColumns(write.set), { id: write.id, status: write.from })];
    case "call-update": {
      const { id, from, attempt, set } = write;
      return [updatePiece("calls", callColumns(set), { id, status: from, attempt })];
    }
    case "confirmation-update":
      return closingPieces(write);
    default:
      return undefined;
  }
}

export function eventsPiece(writes: readonly WriteOf<"event">[]): Piece {
  return {
    shape: `events ${writes.length}`,
    values: writes.flatMap(({ seq, event, text }) => [seq, text ?? toJson(event)]),
    text: (next) =>
      "insert into countersign.events (session, seq, body) select moved.key, e.* " +
      `from moved, (values ${writes.map(() => `(${next("bigint")}, ${next()})`).join(", ")}) e`,
  };
}

/** Together, because parts of a statement have no order among each other, and records have. */
export function journalPiece(writes: readonly WriteOf<"journal">[]): Piece {
  const columns = JOURNAL_COLUMNS.slice(1);
  return {
    shape: `journal ${writes.length}`,
    values: writes.flatMap(({ record }) => fromJournal(record).slice(1)),
    text: (next) =>
      `insert into countersign.journal (seq, ${quoted(columns)}, commit_id) ` +
      "select countersign.next_position(), r.*, moved.commit_id " +
      `from moved, (values ${writes.map(() => `(${placesOf(columns, next)})`).join(", ")}) r`,
  };
}

function insertPiece(table: string, columns: readonly string[], values: readonly SqlValue[]): Piece {
  return {
    shape: `+${table}`,
    values,
    text: (next) =>
      `insert into countersign.${table} (${quoted(columns)}) select ${placesOf(columns, next)} from moved`,
  };
}

function confirmationPieces(confirmation: Parameters<typeof fromConfirmation>[0]): readonly Piece[] {
  const values = fromConfirmation(confirmation);
  const row = insertPiece("confirmations", STORED_CONFIRMATION_COLUMNS, values);
  if (confirmation.status !== "requested") return [row];
  const { id, call, session, app, agent, user, tool, expiresAt = NO_DEADLINE } = confirmation;
  return [row, insertPiece("inbox", INBOX_COLUMNS, [id, call, session, app, agent, user, tool, expiresAt])];
}

function updatePiece(table: string, set: Columns, where: Columns, and = ""): Piece {
  // One that changes nothing still has to find its row.
  const [changed, compared] = [Object.keys(set), Object.keys(where)];
  const setText = (next: Next): string =>
    changed.length === 0
      ? "id = t.id"
      : changed.map((column) => `"${column}" = ${next(TYPES[column])}`).join(", ");
  return {
    shape: `${table} ${changed.join()} ${and}`,
    values: [...Object.values(set), ...Object.values(where)],
    guarded: true,
    text: (next) =>
      `update countersign.${table} t set ${setText(next)} ` +
      `from moved where ${compared.map((column) => `t."${column}" = ${next(TYPES[column])}`).join(" and ")}${and} returning 1`,
  };
}

function closingPieces({ id, from, deadline, set }: WriteOf<"confirmation-update">): readonly Piece[] {
  const judged = deadline === undefined ? "" : ` and t.deadline ${deadline === "ahead" ? ">" : "<="} ${NOW}`;
  const row = updatePiece("confirmations", confirmationColumns(set), { id, status: from }, judged);
  if ((set.status ?? from) === "requested") return [row];
  const gone: Piece = {
    shape: "-inbox",
    values: [id],
    text: (next) => `delete from countersign.inbox t using moved where t.id = ${next()}`,
  };
  return [row, gone];
}

function quoted(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(", ");
}

function placesOf(columns: readonly string[], next: Next): string {
  return columns.map((column) => next(TYPES[column])).join(", ");
}
