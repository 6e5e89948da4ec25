// Countersign as a contender of the peer benchmark: one file against its `open(env)` interface. The benchmark
// is given the folder of its own library as PEERS_LIB and the built package as COUNTERSIGN_DIST.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (folder, file) => import(pathToFileURL(join(folder, file)).href);
const { Script, USER_TEXT, historyTurns } = await load(process.env.PEERS_LIB, "script.mjs");
const { Agent, createLedger, Runner, tool } = await load(process.env.COUNTERSIGN_DIST, "index.js");

export const meta = { name: "countersign", packages: [], stores: ["memory", "sqlite"] };

const number = (name) => ({
  type: "object",
  properties: { [name]: { type: "number" } },
  required: [name],
});

export async function open(env) {
  const script = new Script();
  const model = {
    name: "script",
    async *generate({ contents }) {
      const last = contents.at(-1);
      const next = script.next(last?.parts.some((part) => part.functionResponse !== undefined) ?? false);
      yield { parts: next.text ? [{ text: next.text }] : next.calls.map((call) => ({ functionCall: call })) };
    },
  };
  const agent = new Agent({
    name: "bench",
    model,
    instruction: "Be brief.",
    tools: [
      tool({
        name: "reimburse",
        description: "Reimburse an amount",
        parameters: number("amount"),
        requireConfirmation: true,
        execute: (args) => env.reimburse(args),
      }),
      tool({
        name: "ping",
        description: "Ping",
        parameters: number("i"),
        readOnly: true,
        execute: (args) => env.ping(args),
      }),
    ],
  });
  const ledger = await createLedger(env.store === "memory" ? "memory:" : `sqlite:${env.file}`);
  const runner = new Runner({ agent, ledger, maxModelCalls: 1000 });
  const user = "bench";

  return {
    async start(sessionId) {
      const turn = await runner.send(USER_TEXT, { user, session: sessionId });
      if (turn.status !== "paused") throw new Error(`did not pause: ${turn.status}`);
      return { id: turn.pending[0].id };
    },
    async approve({ id }) {
      const { confirmation, repeated, finished } = await runner.approve(id, { by: { id: user } });
      if (repeated && confirmation.status !== "succeeded")
        throw new Error(`already decided; it is ${confirmation.status}`);
      return { text: (await finished).text };
    },
    async prefill(sessionId, n) {
      const engine = await runner.engine();
      const events = historyTurns(n).map(({ role, text }, i) => ({
        author: role === "user" ? "user" : "bench",
        invocationId: `earlier-${Math.floor(i / 2)}`,
        content: { role: role === "user" ? "user" : "model", parts: [{ text }] },
      }));
      await engine.createSession({ app: "bench", user, id: sessionId }, {}, events);
    },
    async ungated(sessionId, mode, n) {
      script.armUngated(mode, n);
      try {
        return { text: (await runner.send("ping", { user, session: sessionId })).text };
      } finally {
        script.disarm();
      }
    },
    async inspect({ id }) {
      const engine = await runner.engine();
      await engine.workOnce();
      const snapshot = await engine.ledger.load({ confirmation: id });
      return `call ${snapshot?.call?.status}, approved by ${snapshot?.confirmation?.votes.at(-1)?.by.id}`;
    },
    close: () => runner.close(),
  };
}
