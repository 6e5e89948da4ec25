import { CountersignError } from "../../../protocol/index.ts";

// https://sqlite.org/rescode.html; the low byte of an extended code is its primary one.
const PRIMARY_CODE = 0xff;
const BUSY: ReadonlySet<number> = new Set([5, 6]);
const ADVICE: ReadonlyMap<number, string> = new Map([
  [8, "it cannot be written: check the permissions of the file and its directory"],
  [10, "the disk reported an error: check the disk and its mount"],
  [11, "the file is damaged: restore it from a backup, or recover it with `sqlite3 FILE .recover`"],
  [13, "the disk is full: free some space and try again"],
  [14, "it cannot be opened: create its directory, or check the path and its permissions"],
  [26, "the file is not a SQLite database: choose another path, or move that file away"],
]);

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number")
    return undefined;
  return error.errcode & PRIMARY_CODE;
}

/** Did another connection hold the lock? Then the same statement may succeed a moment later. */
export function isBusy(error: unknown): boolean {
  return BUSY.has(primaryCode(error) ?? -1);
}

/** What a failure of SQLite means to a user of the ledger; other errors pass unchanged. */
export function toLedgerError(error: unknown, path: string): unknown {
  const code = primaryCode(error);
  if (code === undefined) return error;
  const advice = ADVICE.get(code);
  if (advice === undefined) {
    return new CountersignError("internal", `The ledger "${path}" refused a statement.`, {
      details: { path },
      cause: error,
    });
  }
  return new CountersignError("ledger-unreachable", `The ledger "${path}" cannot be used: ${advice}.`, {
    details: { path },
    cause: error,
  });
}
