import { DatabaseSync, type SQLInputValue, StatementSync } from "node:sqlite";

/** One statement as it reached the database. */
export interface Traced {
  readonly sql: string;
  readonly values: readonly (SQLInputValue | boolean | readonly string[])[];
}

/** A query of PostgreSQL's driver. */
export function toTraced({
  text,
  values = [],
}: {
  readonly text: string;
  readonly values?: readonly unknown[];
}): Traced {
  return { sql: normalise(text), values: values as Traced["values"] };
}

/**
 * Records every statement that this process gives to SQLite from now on, whoever prepared it. Costs time: for counting, not for
 * measuring.
 */
export function traceStatements(onStatement: (traced: Traced) => void): void {
  for (const method of ["run", "get", "all"] as const) {
    const original = StatementSync.prototype[method];
    StatementSync.prototype[method] = function (this: StatementSync, ...values: unknown[]) {
      onStatement({ sql: normalise(this.sourceSQL), values: values as SQLInputValue[] });
      return Reflect.apply(original, this, values) as never;
    };
  }
  const exec = Reflect.get(DatabaseSync.prototype, "exec");
  DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
    onStatement({ sql: normalise(sql), values: [] });
    exec.call(this, sql);
  };
}

function normalise(sql: string): string {
  return sql.replace(/\s+/g, " ").trim();
}
