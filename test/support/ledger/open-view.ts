import { existsSync } from "node:fs";
import { LedgerDatabase } from "./ledger-database.ts";
import { LedgerFile } from "./ledger-file.ts";
import type { LedgerView } from "./ledger-view.ts";

/** A ledger's place in a test: the path of a file, or the URL of a database. */
export type LedgerPlace = string;

/** As `createLedger` wants it. */
export function urlOf(place: LedgerPlace): string {
  return place.includes("://") ? place : `sqlite:${place}`;
}

/** Opens a second pair of eyes on a ledger. */
export function openView(place: LedgerPlace): LedgerView {
  return place.includes("://") ? new LedgerDatabase(place) : new LedgerFile(place);
}

/** Looks once. Undefined where there is no ledger yet. */
export async function lookAt<T>(
  place: LedgerPlace,
  read: (view: LedgerView) => T | Promise<T>,
): Promise<T | undefined> {
  // A process that died before it made the ledger has left none.
  if (!place.includes("://") && !existsSync(place)) return undefined;
  const view = openView(place);
  try {
    return (await view.isMade()) ? await read(view) : undefined;
  } finally {
    await view.close();
  }
}
