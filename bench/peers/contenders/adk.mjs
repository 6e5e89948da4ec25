// @google/adk: LlmAgent + FunctionTool({requireConfirmation: true}); resume is a
// functionResponse to adk_request_confirmation (the documented path).
import {
  BaseLlm,
  createEvent,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  LogLevel,
  Runner,
  setLogLevel,
} from "@google/adk";
import { z } from "zod";
import { historyTurns, Script, USER_TEXT } from "../lib/script.mjs";

setLogLevel(LogLevel.ERROR);
const APP = "bench",
  USER = "u";

export const meta = {
  name: "adk",
  packages: ["@google/adk", "@mikro-orm/core", "@mikro-orm/sqlite", "sqlite3", "@mikro-orm/postgresql"],
  stores: ["memory", "sqlite", "postgres"],
  // Its sessions wait for each other on one file: minutes for a few cycles.
  skip: ["sqlite8", "sqlite64"],
};

class FakeLlm extends BaseLlm {
  constructor(script) {
    super({ model: "fake" });
    this.script = script;
  }
  async *generateContentAsync(req) {
    const last = req.contents.at(-1)?.parts?.at(-1);
    const d = this.script.next(Boolean(last?.functionResponse));
    yield {
      content: {
        role: "model",
        parts: d.text
          ? [{ text: d.text }]
          : d.calls.map((c) => ({ functionCall: { id: c.id, name: c.name, args: c.args } })),
      },
    };
  }
  async connect() {
    throw new Error("no live mode");
  }
}

async function sessionService({ store, file, url, wal }) {
  if (store === "memory") return new InMemorySessionService();
  const { DatabaseSessionService } = await import("@google/adk/sessions/database");
  if (store === "sqlite" && wal) {
    // journal_mode=WAL is a property of the file: set it once before ADK opens it
    const { openSqlite } = await import("../lib/sqlite.mjs");
    openSqlite(file).close();
  }
  const s = new DatabaseSessionService(store === "sqlite" ? `sqlite://${file}` : url);
  await s.init();
  return s;
}

export async function open(env) {
  const script = new Script();
  const sessions = await sessionService(env);
  const reimburse = new FunctionTool({
    name: "reimburse",
    description: "Reimburse an amount",
    parameters: z.object({ amount: z.number() }),
    requireConfirmation: true,
    execute: (a) => env.reimburse(a),
  });
  const ping = new FunctionTool({
    name: "ping",
    description: "Ping",
    parameters: z.object({ i: z.number() }),
    execute: (a) => env.ping(a),
  });
  const agent = new LlmAgent({
    name: "agent",
    model: new FakeLlm(script),
    instruction: "Be brief.",
    tools: [reimburse, ping],
  });
  const runner = new Runner({ appName: APP, agent, sessionService: sessions });
  const known = new Set();

  const drain = async (sessionId, newMessage) => {
    let gate, text;
    for await (const ev of runner.runAsync({ userId: USER, sessionId, newMessage })) {
      for (const p of ev.content?.parts ?? []) {
        if (p.functionCall?.name === "adk_request_confirmation") gate = p.functionCall.id;
        if (p.text) text = p.text;
      }
      if (ev.errorMessage) throw new Error(ev.errorMessage);
    }
    return { gate, text };
  };
  const ensure = async (sessionId) => {
    if (known.has(sessionId)) return;
    await sessions.createSession({ appName: APP, userId: USER, sessionId });
    known.add(sessionId);
  };

  return {
    pragmas:
      env.store === "sqlite"
        ? async () => {
            const c = sessions.orm.em.getConnection();
            const j = await c.execute("pragma journal_mode"),
              s = await c.execute("pragma synchronous");
            return `journal_mode=${j[0].journal_mode} synchronous=${s[0].synchronous}`;
          }
        : undefined,
    async start(sessionId) {
      await ensure(sessionId);
      const { gate } = await drain(sessionId, { role: "user", parts: [{ text: USER_TEXT }] });
      if (!gate) throw new Error("adk: did not pause");
      return { sessionId, gate };
    },
    async approve({ sessionId, gate }) {
      const { text } = await drain(sessionId, {
        role: "user",
        parts: [
          { functionResponse: { id: gate, name: "adk_request_confirmation", response: { confirmed: true } } },
        ],
      });
      return { text };
    },
    async prefill(sessionId, n) {
      await ensure(sessionId);
      const session = await sessions.getSession({ appName: APP, userId: USER, sessionId });
      const t0 = Date.now() - n - 1000; // distinct millisecond stamps: the database orders by them
      let i = 0;
      for (const t of historyTurns(n)) {
        const event = createEvent({
          invocationId: `h${i >> 1}`,
          author: t.role === "user" ? "user" : "agent",
          content: { role: t.role === "user" ? "user" : "model", parts: [{ text: t.text }] },
        });
        event.timestamp = t0 + i++;
        await sessions.appendEvent({ session, event });
      }
    },
    async ungated(sessionId, mode, n) {
      await ensure(sessionId);
      script.armUngated(mode, n);
      try {
        return { text: (await drain(sessionId, { role: "user", parts: [{ text: "ping" }] })).text };
      } finally {
        script.disarm();
      }
    },
    async inspect({ sessionId, gate }) {
      const s = await sessions.getSession({ appName: APP, userId: USER, sessionId });
      const parts = s.events.flatMap((e) => e.content?.parts ?? []);
      const kinds = parts.map((p) =>
        p.functionCall?.name
          ? `call:${p.functionCall.name}`
          : p.functionResponse
            ? `resp:${p.functionResponse.name}`
            : "text",
      );
      return `events: ${kinds.join(" > ")}; approval recorded: ${parts.some((p) => p.functionResponse?.id === gate)}`;
    },
    async close() {
      await sessions.orm?.close();
    },
  };
}
