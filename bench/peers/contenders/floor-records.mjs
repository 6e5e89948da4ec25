// Not a peer: what `ours` stores of a cycle, without its engine. Its commits are recorded once and written again with other
// ids: each document and its index entries are made anew, the events and records encoded, both hashes of the chain computed,
// and all of it goes to the memory store. Nothing is judged, read or awaited beside that. No engine with these
// records can be faster.
import { hash } from "node:crypto";
import { DocumentLedger, systemClock } from "../../../dist/engine/index.js";
import { Runner } from "../../../dist/index.js";
import { MemoryStore } from "../../../dist/stores/memory/index.js";
import { AMOUNT, FINAL, Script, USER_TEXT } from "../lib/script.mjs";
import { createAgent } from "./ours.mjs";

export const meta = {
  name: "floor-records",
  packages: [],
  stores: ["memory"],
  skip: ["growth", "safety"],
};

const USER = "bench";
const SESSION = "session-to-be-replaced";
const OWN_KEY = "\u0001";
const LEASE_MS = 2 ** 40;
const CALLS = 50;

export async function open(env) {
  const store = new MemoryStore(systemClock);
  const write = await writerOf(store);
  const { pause, approve } = await recordCycle();
  const turns = await recordUngated("seq");
  // In the middle, where a document has as much as it will ever have.
  const oneTurn = { first: turns.slice(0, 1), turn: turns.slice(CALLS, CALLS + 2), last: turns.slice(-1) };
  const oneOfMany = await recordUngated("par");
  return {
    async start(sessionId) {
      const session = write.begin(sessionId);
      for (const commit of pause) await write.commit(session, commit);
      return session;
    },
    async approve(session) {
      const [decision, ...rest] = approve;
      await write.commit(session, decision);
      await env.reimburse({ amount: AMOUNT });
      for (const commit of rest) await write.commit(session, commit);
      return { text: FINAL };
    },
    async ungated(sessionId, mode, n) {
      const session = write.begin(sessionId);
      if (mode === "seq") {
        for (const commit of oneTurn.first) await write.commit(session, commit);
        for (let i = 0; i < n; i += 1) {
          await write.commit(session, oneTurn.turn[0]);
          await env.ping({ i });
          await write.commit(session, oneTurn.turn[1]);
        }
        for (const commit of oneTurn.last) await write.commit(session, commit);
      } else {
        const [message, turn, ...rest] = oneOfMany;
        await write.commit(session, message);
        await write.commit(session, turn);
        await Promise.all(Array.from({ length: n }, (_, i) => env.ping({ i })));
        for (const commit of rest) await write.commit(session, commit);
      }
      return { text: FINAL };
    },
    close: () => store.close(),
  };
}

/** The commits of one cycle of `ours`: up to the pause, and from the decision on. */
async function recordCycle() {
  const { runner, commits } = await recorded(new Script());
  const turn = await runner.send(USER_TEXT, { user: USER, session: SESSION });
  const pause = commits.splice(0);
  await (await runner.approve(turn.pending[0].id, { by: { id: USER } })).finished;
  await runner.close();
  return { pause: pause.map(toMaker), approve: commits.map(toMaker) };
}

async function recordUngated(mode) {
  const script = new Script();
  const { runner, commits } = await recorded(script);
  script.armUngated(mode, CALLS);
  await runner.send("ping", { user: USER, session: SESSION });
  await runner.close();
  return commits.map(toMaker);
}

async function recorded(script) {
  const commits = [];
  const store = new MemoryStore(systemClock);
  const commit = store.commit.bind(store);
  store.commit = (given) => {
    commits.push(structuredClone(given));
    return commit(given);
  };
  const agent = createAgent(script, {
    reimburse: async () => ({ ok: true }),
    ping: async () => ({ ok: true }),
  });
  const runner = new Runner({ agent, ledger: new DocumentLedger(store), maxModelCalls: 1000 });
  return { runner, commits };
}

/**
 * The parts of a commit as code that makes them of another session: what somebody would write by hand. Its names and ids
 * begin with the session's key.
 */
function toMaker({ key, document, log, add, remove, items, owner, archived }) {
  const said = JSON.parse(log.body.replaceAll(OWN_KEY, key));
  const { app, user } = document.head;
  const create = { app, user, id: SESSION };
  const parts = {
    document,
    add,
    remove,
    items,
    said,
    archived,
    create,
    kinds: log.kinds,
    events: log.events,
  };
  const make = new Function("key", "session", "owner", `return ${literal(parts, { key, owner })};`);
  return { make, isOwned: owner !== undefined };
}

function literal(value, known) {
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, known)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${literal(item, known)}`).join(",")}}`;
  }
  return typeof value === "string" ? textLiteral(value, known) : String(JSON.stringify(value));
}

function textLiteral(text, { key, owner }) {
  if (text === SESSION) return "session";
  if (owner !== undefined && text === owner) return "owner";
  return text
    .split(key)
    .map((part) => JSON.stringify(part))
    .join("+key+");
}

async function writerOf(store) {
  const owner = "o".repeat(26);
  await store.beat({ id: owner, host: "bench", pid: 1 }, LEASE_MS);
  const secret = "s".repeat(43);
  let count = 0;
  return {
    begin(id) {
      count += 1;
      return { key: String(count).padStart(26, "0"), id, version: 0, head: undefined };
    },
    async commit(session, { make, isOwned }) {
      const { key, id, version, head } = session;
      const { document, add, remove, items, said, archived, create, kinds, events } = make(key, id, owner);
      const at = Date.now();
      const body = JSON.stringify(said).replaceAll(key, OWN_KEY);
      const digest = hash("sha256", secret + body, "base64url");
      const line = JSON.stringify(["row-v1", head ?? "", 0, key, version + 1, at, kinds, digest]);
      const rowHash = `0-${hash("sha256", line, "base64url")}`;
      document.head.chain = { n: version + 1, hash: rowHash };
      const log = { session: key, n: version + 1, at, kinds, digest, hash: rowHash, events, body };
      const outcome = await store.commit({
        key,
        version,
        ...(version === 0 ? { create } : { head }),
        document,
        log,
        archived,
        add,
        remove,
        items,
        owner: isOwned ? owner : undefined,
        sync: false,
      });
      if (!outcome.ok) throw new Error(`floor-records: refused: ${outcome.conflict}`);
      session.version += 1;
      session.head = rowHash;
    },
  };
}
