import type { Write } from "../../engine/index.ts";
import {
  FRAME_COLUMNS,
  JOURNAL_COLUMNS,
  MEMO_COLUMNS,
  STEP_COLUMNS,
  STORED_CALL_COLUMNS,
  STORED_CONFIRMATION_COLUMNS,
} from "../sql/columns.ts";
import type { SqlValue } from "../sql/row.ts";
import { fromCall, fromConfirmation, fromFrame, fromJournal, toJson } from "../sql/rows.ts";
import { type Columns, callColumns, confirmationColumns, frameColumns } from "./changed-columns.ts";
import { NOTHING_SHOWN } from "./erased-votes.ts";

type WriteOf<Kind extends Write["kind"]> = Extract<Write, { kind: Kind }>;

/** One write as `countersign.put` takes it; inserts of one kind go together. */
type Encoded = {
  readonly kind: Write["kind"];
  readonly rows?: Columns[];
  readonly [member: string]: unknown;
};

/**
 * The writes of a commit, in order, as JSON. Inserts join the last ones of their kind: nothing that was written in
 * between depends on them, but for an erasure, which comes between.
 */
export function toWrites(writes: readonly Write[], votes: Columns): string {
  const encoded: Encoded[] = [];
  let open = new Map<string, Columns[]>();
  for (const write of writes) {
    if (write.kind === "erase") {
      encoded.push({ kind: "erase", shown: toJson(NOTHING_SHOWN), votes });
      open = new Map();
      continue;
    }
    const row = insertedRow(write);
    const rows = open.get(write.kind);
    if (row === undefined) encoded.push(guarded(write));
    else if (rows !== undefined) rows.push(row);
    else {
      const first = [row];
      encoded.push({ kind: write.kind, rows: first });
      open.set(write.kind, first);
    }
  }
  return JSON.stringify(encoded);
}

/** Undefined for what is guarded, and so goes alone. */
function insertedRow(write: Write): Columns | undefined {
  switch (write.kind) {
    case "event":
      return { seq: write.seq, body: write.text ?? toJson(write.event) };
    case "journal":
      return named(JOURNAL_COLUMNS, fromJournal(write.record));
    case "call-insert":
      return named(STORED_CALL_COLUMNS, fromCall(write.call));
    case "confirmation-insert":
      return named(STORED_CONFIRMATION_COLUMNS, fromConfirmation(write.confirmation));
    case "frame-insert":
      return write.exclusive ? undefined : named(FRAME_COLUMNS, fromFrame(write.frame));
    default:
      return undefined;
  }
}

function guarded(write: Write): Encoded {
  switch (write.kind) {
    case "frame-insert":
      return { kind: write.kind, exclusive: true, rows: [named(FRAME_COLUMNS, fromFrame(write.frame))] };
    case "frame-update": {
      const { kind, id, from, exclusive, set } = write;
      return { kind, id, from, ...(exclusive ? { exclusive } : {}), set: frameColumns(set) };
    }
    case "call-update": {
      const { kind, id, from, attempt, set } = write;
      return { kind, id, from, attempt, set: callColumns(set) };
    }
    case "confirmation-update": {
      const { kind, id, from, deadline, set } = write;
      return { kind, id, from, deadline, set: confirmationColumns(set) };
    }
    case "step":
      return { kind: write.kind, from: write.from, row: stepRow(write) };
    case "remember":
      return { kind: write.kind, row: memoRow(write) };
    case "state":
      return { kind: write.kind, scope: write.scope, entries: entriesOf(write) };
    default:
      throw new TypeError(`${write.kind} is not a guarded write.`);
  }
}

function stepRow({ step }: WriteOf<"step">): Columns {
  const { call, kind, name, occurrence, status, digest, value } = step;
  return named(STEP_COLUMNS, [call, kind, name, occurrence, status, digest ?? null, toJson(value)]);
}

function memoRow({ memo }: WriteOf<"remember">): Columns {
  const { principal, route, key, requestDigest, response, expiresAt } = memo;
  return named(MEMO_COLUMNS, [principal, route, key, requestDigest, toJson(response), expiresAt]);
}

// Names are JSON too, so that any key can be stored; sorted, so that two sessions never wait for each other.
function entriesOf({ delta }: WriteOf<"state">): readonly (readonly [name: string, value: SqlValue])[] {
  return Object.entries(delta)
    .map(([name, value]) => [JSON.stringify(name), toJson(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function named(columns: readonly string[], values: readonly SqlValue[]): Columns {
  const row: Record<string, SqlValue> = {};
  for (const [i, column] of columns.entries()) row[column] = values[i] ?? null;
  return row;
}
