// Not a peer: the smallest hand-written loop that does the job and claims the call
// before it runs it. It bounds what is attainable on this machine, and it shows that
// the safety workload can tell a safe contender from an unsafe one.
import { z } from "zod";
import { historyTurns, Script, USER_TEXT } from "../lib/script.mjs";

export const meta = { name: "floor", packages: ["pg", "zod"], stores: ["memory", "sqlite", "postgres"] };

const DDL = `CREATE TABLE IF NOT EXISTS events (session TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (session, seq));
CREATE TABLE IF NOT EXISTS calls (id TEXT PRIMARY KEY, session TEXT NOT NULL, args TEXT NOT NULL, status TEXT NOT NULL, result TEXT);`;

async function openDb({ store, file, url, full }) {
  if (store === "memory") {
    const ev = new Map(),
      calls = new Map();
    return {
      append: async (s, list) => {
        const a = ev.get(s) ?? [];
        a.push(...list);
        ev.set(s, a);
      },
      history: async (s) => [...(ev.get(s) ?? [])],
      pause: async (s, list, c) => {
        const a = ev.get(s) ?? [];
        a.push(...list);
        ev.set(s, a);
        calls.set(c.id, { ...c, session: s, status: "pending" });
      },
      claim: async (id) => {
        const c = calls.get(id);
        if (c?.status !== "pending") return { taken: c?.status };
        c.status = "running";
        return { call: c };
      },
      done: async (id, s, list) => {
        calls.get(id).status = "done";
        ev.get(s).push(...list);
      },
      status: async (id) => calls.get(id)?.status,
      close: async () => {},
    };
  }
  if (store === "sqlite") {
    const { openSqlite } = await import("../lib/sqlite.mjs");
    const db = openSqlite(file, { full });
    db.exec(DDL);
    const ins = db.prepare(
      "INSERT INTO events (session, seq, body) VALUES (?, (SELECT COALESCE(MAX(seq), 0) + 1 FROM events WHERE session = ?), ?)",
    );
    const sel = db.prepare("SELECT body FROM events WHERE session = ? ORDER BY seq");
    const insCall = db.prepare("INSERT INTO calls (id, session, args, status) VALUES (?, ?, ?, 'pending')");
    const claim = db.prepare(
      "UPDATE calls SET status = 'running' WHERE id = ? AND status = 'pending' RETURNING id, session, args",
    );
    const fin = db.prepare("UPDATE calls SET status = 'done' WHERE id = ?");
    const st = db.prepare("SELECT status FROM calls WHERE id = ?");
    const append = (s, list) => {
      for (const e of list) ins.run(s, s, JSON.stringify(e));
    };
    const txAppend = db.transaction(append);
    const txPause = db.transaction((s, list, c) => {
      append(s, list);
      insCall.run(c.id, s, JSON.stringify(c.args));
    });
    const txDone = db.transaction((id, s, list) => {
      fin.run(id);
      append(s, list);
    });
    return {
      append: async (s, l) => txAppend(s, l),
      history: async (s) => sel.all(s).map((x) => JSON.parse(x.body)),
      pause: async (s, l, c) => txPause(s, l, c),
      claim: async (id) => {
        const c = claim.get(id);
        return c ? { call: { ...c, args: JSON.parse(c.args) } } : { taken: st.get(id)?.status };
      },
      done: async (id, s, l) => txDone(id, s, l),
      status: async (id) => st.get(id)?.status,
      close: async () => db.close(),
      pragmas: db.pragmas,
    };
  }
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: url, max: 8 });
  await pool.query(DDL).catch((e) => {
    if (e.code !== "23505") throw e;
  });
  // one statement each: no explicit transaction needed
  const EV =
    "SELECT $1, (SELECT COALESCE(MAX(seq), 0) FROM events WHERE session = $1) + o, b FROM unnest($2::text[]) WITH ORDINALITY AS t(b, o)";
  const J = (l) => l.map((x) => JSON.stringify(x));
  return {
    append: (s, l) =>
      pool.query({ name: "a", text: `INSERT INTO events (session, seq, body) ${EV}`, values: [s, J(l)] }),
    history: async (s) =>
      (
        await pool.query({
          name: "h",
          text: "SELECT body FROM events WHERE session = $1 ORDER BY seq",
          values: [s],
        })
      ).rows.map((r) => JSON.parse(r.body)),
    pause: (s, l, c) =>
      pool.query({
        name: "p",
        text: `WITH c AS (INSERT INTO calls (id, session, args, status) VALUES ($3, $1, $4, 'pending')) INSERT INTO events (session, seq, body) ${EV}`,
        values: [s, J(l), c.id, JSON.stringify(c.args)],
      }),
    claim: async (id) => {
      const c = (
        await pool.query({
          name: "c",
          text: "UPDATE calls SET status = 'running' WHERE id = $1 AND status = 'pending' RETURNING id, session, args",
          values: [id],
        })
      ).rows[0];
      return c
        ? { call: { ...c, args: JSON.parse(c.args) } }
        : { taken: (await pool.query("SELECT status FROM calls WHERE id = $1", [id])).rows[0]?.status };
    },
    done: (id, s, l) =>
      pool.query({
        name: "d",
        text: `WITH c AS (UPDATE calls SET status = 'done' WHERE id = $3) INSERT INTO events (session, seq, body) ${EV}`,
        values: [s, J(l), id],
      }),
    status: async (id) => (await pool.query("SELECT status FROM calls WHERE id = $1", [id])).rows[0]?.status,
    close: () => pool.end(),
  };
}

export async function open(env) {
  const script = new Script();
  const db = await openDb(env);
  const schema = z.object({ amount: z.number() });
  const model = async (messages) => script.next(messages.at(-1)?.role === "tool");

  return {
    pragmas: db.pragmas,
    async start(sessionId) {
      const user = { role: "user", text: USER_TEXT };
      const d = await model([...(await db.history(sessionId)), user]);
      const call = d.calls[0];
      await db.pause(sessionId, [user, { role: "assistant", calls: d.calls }], call);
      return { id: call.id };
    },
    async approve({ id }) {
      const { call, taken } = await db.claim(id);
      if (!call)
        throw new Error(
          taken === "running"
            ? "call is running elsewhere or its outcome is unknown"
            : `call already ${taken}`,
        );
      const result = await env.reimburse(schema.parse(call.args));
      const toolEvent = { role: "tool", id, result };
      const d = await model([...(await db.history(call.session)), toolEvent]);
      await db.done(id, call.session, [toolEvent, { role: "assistant", text: d.text }]);
      return { text: d.text };
    },
    prefill: (sessionId, n) => db.append(sessionId, historyTurns(n)),
    async ungated(sessionId, mode, n) {
      script.armUngated(mode, n);
      const ping = z.object({ i: z.number() });
      const messages = [{ role: "user", text: "ping" }];
      await db.append(sessionId, messages);
      for (;;) {
        const d = await model(messages);
        if (d.text) {
          script.disarm();
          await db.append(sessionId, [{ role: "assistant", text: d.text }]);
          return d;
        }
        const out = [
          { role: "assistant", calls: d.calls },
          ...(await Promise.all(
            d.calls.map(async (c) => ({
              role: "tool",
              id: c.id,
              result: await env.ping(ping.parse(c.args)),
            })),
          )),
        ];
        messages.push(...out);
        await db.append(sessionId, out);
      }
    },
    async inspect({ id }) {
      return `call status: ${await db.status(id)}`;
    },
    close: () => db.close(),
  };
}
