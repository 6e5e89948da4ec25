// Countersign, as it was built into dist/.
import { Agent, createLedger, Runner, tool } from "../../../dist/index.js";
import { historyTurns, Script, USER_TEXT } from "../lib/script.mjs";

export const meta = { name: "countersign", packages: [], stores: ["memory", "sqlite", "postgres"] };

const APP = "bench";
const USER = "bench";

export async function open(env) {
  const script = new Script();
  const agent = createAgent(script, env);
  const ledger = await openLedger(env);
  const runner = new Runner({ agent, ledger, maxModelCalls: 1000 });
  return {
    start: (sessionId) => start(runner, sessionId),
    approve: (handle) => approve(runner, handle),
    prefill: (sessionId, n) => prefill(runner, sessionId, n),
    inspect: (handle) => inspect(runner, handle),
    async ungated(sessionId, mode, n) {
      script.armUngated(mode, n);
      try {
        return { text: (await runner.send("ping", { user: USER, session: sessionId })).text };
      } finally {
        script.disarm();
      }
    },
    close: () => runner.close(),
  };
}

function openLedger({ store, file, url }) {
  if (store === "postgres") return createLedger(url, { migrate: true });
  return createLedger(store === "memory" ? "memory:" : `sqlite:${file}`);
}

export function createAgent(script, env) {
  const model = {
    name: "script",
    async *generate({ contents }) {
      const last = contents.at(-1);
      const next = script.next(last?.parts.some((part) => part.functionResponse !== undefined) ?? false);
      yield { parts: next.text ? [{ text: next.text }] : next.calls.map((call) => ({ functionCall: call })) };
    },
  };
  const reimburse = tool({
    name: "reimburse",
    description: "Reimburse an amount",
    parameters: numberNamed("amount"),
    requireConfirmation: true,
    execute: (args) => env.reimburse(args),
  });
  const ping = tool({
    name: "ping",
    description: "Ping",
    parameters: numberNamed("i"),
    readOnly: true,
    execute: (args) => env.ping(args),
  });
  return new Agent({ name: APP, model, instruction: "Be brief.", tools: [reimburse, ping] });
}

function numberNamed(name) {
  return { type: "object", properties: { [name]: { type: "number" } }, required: [name] };
}

async function start(runner, sessionId) {
  const turn = await runner.send(USER_TEXT, { user: USER, session: sessionId });
  if (turn.status !== "paused") throw new Error(`did not pause: ${turn.status}`);
  return { id: turn.pending[0].id };
}

async function approve(runner, { id }) {
  const result = await runner.approve(id, { by: { id: USER } });
  // Decided before and still running, says the ledger: if its process died, a worker finds that out.
  const worker = result.repeated && result.confirmation.status === "executing" ? runner.work() : undefined;
  const turn = await result.finished;
  await worker?.stop();
  const [unknown] = turn.unknown;
  if (unknown !== undefined)
    throw new Error(`the outcome of ${unknown.tool} is unknown; a person must settle it`);
  return { text: turn.text };
}

async function prefill(runner, sessionId, n) {
  const engine = await runner.engine();
  const events = historyTurns(n).map(({ role, text }, i) => ({
    author: role === "user" ? "user" : APP,
    invocationId: `earlier-${Math.floor(i / 2)}`,
    content: { role: role === "user" ? "user" : "model", parts: [{ text }] },
  }));
  const created = await engine.createSession({ app: APP, user: USER, id: sessionId }, {}, { events });
  if (!created.ok) throw new Error(created.message);
}

async function inspect(runner, { id }) {
  const engine = await runner.engine();
  const snapshot = await engine.ledger.load({ confirmation: id });
  return `call ${snapshot?.call?.status}, approved by ${snapshot?.confirmation?.votes.at(-1)?.by.id}`;
}
