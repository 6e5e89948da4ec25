// node:sqlite with the few calls that the hand-written rows need. Its pragmas are those that the users of the
// libraries without a store write: WAL, and SQLite's own default of synchronous=NORMAL there unless `full` is asked for.
import { DatabaseSync } from "node:sqlite";

export function openSqlite(file, { full = false } = {}) {
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec(`pragma journal_mode = wal; pragma synchronous = ${full ? "full" : "normal"}`);
  const pragma = (name) => String(Object.values(db.prepare(`pragma ${name}`).get())[0]);
  return {
    exec: (sql) => db.exec(sql),
    prepare: (sql) => db.prepare(sql),
    /** `work` in one transaction. */
    transaction:
      (work) =>
      (...args) => {
        db.exec("begin immediate");
        try {
          const result = work(...args);
          db.exec("commit");
          return result;
        } catch (error) {
          db.exec("rollback");
          throw error;
        }
      },
    pragmas: () => `journal_mode=${pragma("journal_mode")} synchronous=${pragma("synchronous")}`,
    close: () => db.close(),
  };
}
