import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ledger, ManualClock } from "../../../engine/index.ts";
import type { LedgerSubject } from "../../../engine/ledger.contract.ts";
import { openSqliteLedger } from "../index.ts";

/** A directory that is gone with the test. */
export function createDirectory(): Disposable & { readonly path: string; file(name?: string): string } {
  const path = mkdtempSync(join(tmpdir(), "countersign-"));
  return {
    path,
    file: (name = "ledger.db") => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Ledgers in files of their own, or in memory; all are closed at the end. */
export function createSubject(place: "file" | "memory"): LedgerSubject & AsyncDisposable {
  const directory = createDirectory();
  const clock = new ManualClock();
  const opened: Ledger[] = [];
  let files = 0;
  const openAt = async (): Promise<Ledger> => {
    const path = place === "memory" ? ":memory:" : directory.file(`ledger-${files}.db`);
    const ledger = await openSqliteLedger({ path, clock });
    opened.push(ledger);
    return ledger;
  };
  return {
    clock,
    open: () => {
      files += 1;
      return openAt();
    },
    reopen: openAt,
    async [Symbol.asyncDispose]() {
      for (const ledger of opened) await ledger.close();
      directory[Symbol.dispose]();
    },
  };
}
