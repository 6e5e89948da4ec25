import { DatabaseSync } from "node:sqlite";
import type { Driver, Statement } from "../connection/driver.ts";

export const NORMAL = 1;
export const FULL = 2;

/** A driver that notes how carefully each commit is about to be written. */
export function createNotingDriver(path: string): { readonly driver: Driver; readonly levels: unknown[] } {
  const inner = new DatabaseSync(path, { timeout: 0 });
  const levels: unknown[] = [];
  const noting = (statement: Statement): Statement => ({
    get: (...values) => statement.get(...values),
    all: (...values) => statement.all(...values),
    iterate: (...values) => statement.iterate(...values),
    setReturnArrays: (enabled) => statement.setReturnArrays(enabled),
    run(...values) {
      levels.push(inner.prepare("pragma synchronous").get()?.["synchronous"]);
      return statement.run(...values);
    },
  });
  const driver: Driver = {
    get isTransaction() {
      return inner.isTransaction;
    },
    exec: (sql) => inner.exec(sql),
    prepare: (sql) => (sql === "commit" ? noting(inner.prepare(sql)) : inner.prepare(sql)),
    close: () => inner.close(),
  };
  return { driver, levels };
}
