// What users of a library WITHOUT a store write themselves: one row per session,
// the serialized state in it. Used by the openai and aisdk contenders only.
export async function openKv({ store, file, url, full }) {
  if (store === "memory") {
    const m = new Map();
    return {
      get: async (k) => m.get(k),
      set: async (k, v) => void m.set(k, v),
      close: async () => {},
      serialize: false,
    };
  }
  if (store === "sqlite") {
    const { openSqlite } = await import("./sqlite.mjs");
    const db = openSqlite(file, { full });
    db.exec("CREATE TABLE IF NOT EXISTS kv (k TEXT PRIMARY KEY, v TEXT NOT NULL)");
    const g = db.prepare("SELECT v FROM kv WHERE k = ?");
    const s = db.prepare("INSERT INTO kv (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v");
    return {
      get: async (k) => g.get(k)?.v,
      set: async (k, v) => void s.run(k, v),
      close: async () => db.close(),
      serialize: true,
      pragmas: db.pragmas,
    };
  }
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  // two processes may create it at once
  await pool.query("CREATE TABLE IF NOT EXISTS kv (k TEXT PRIMARY KEY, v TEXT NOT NULL)").catch((e) => {
    if (e.code !== "23505") throw e;
  });
  return {
    get: async (k) =>
      (await pool.query({ name: "g", text: "SELECT v FROM kv WHERE k = $1", values: [k] })).rows[0]?.v,
    set: async (k, v) =>
      void (await pool.query({
        name: "s",
        text: "INSERT INTO kv (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
        values: [k, v],
      })),
    close: async () => pool.end(),
    serialize: true,
  };
}
