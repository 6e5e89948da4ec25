import pg from "pg";

/** Every query of PostgreSQL's driver in this process, until the returned function is called. */
export function watchQueries(seen: (query: pg.QueryConfig) => void): () => void {
  const prototype = pg.Client.prototype as { query: unknown };
  const real = prototype.query as (...args: unknown[]) => unknown;
  prototype.query = function query(this: pg.Client, ...args: unknown[]): unknown {
    const [sent] = args;
    if (typeof sent === "object" && sent !== null && "text" in sent) seen({ ...(sent as pg.QueryConfig) });
    return Reflect.apply(real, this, args);
  };
  return () => {
    prototype.query = real;
  };
}
