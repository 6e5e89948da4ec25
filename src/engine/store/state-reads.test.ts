import { expect, test } from "vitest";
import { MemoryStore } from "../../stores/memory/index.ts";
import { systemClock } from "../common/index.ts";
import { Engine } from "../engine.ts";
import { buildCall, SessionWriter } from "../ledger/contract/build.ts";
import { DocumentLedger } from "./document-ledger.ts";

async function opened(state: { readonly list: readonly number[] }) {
  const store = new MemoryStore(systemClock);
  const ledger = new DocumentLedger(store);
  const engine = new Engine({ ledger });
  const name = { app: "bank", user: "ana", id: "s" };
  await engine.createSession(name, state);
  const key = (await ledger.load({ session: name }))?.session.key ?? "";
  let reads = 0;
  const items = store.items.bind(store);
  store.items = (keys) => {
    reads += 1;
    return items(keys);
  };
  return { engine, ledger, key, reads: () => reads };
}

test("those who ask for the state at one moment are answered by one read, each with a copy", async () => {
  const { engine, ledger, key, reads } = await opened({ list: [1] });
  const [one, other] = await Promise.all([ledger.state(key), ledger.state(key)]);
  (one as { list: number[] }).list.push(2);
  expect([other, reads()]).toEqual([{ list: [1] }, 1]);
  await engine.close();
});

test("who asks once a read has begun does not get what was read before", async () => {
  const { engine, ledger, key, reads } = await opened({ list: [1] });
  const first = ledger.state(key);
  await Promise.resolve();
  await Promise.resolve();
  const second = ledger.state(key);
  await Promise.all([first, second]);
  expect(reads()).toBe(2);
  await engine.close();
});

/** A store that reads what a commit wants with it, as one behind a network does. */
async function claiming() {
  const store = new MemoryStore(systemClock);
  let reads = 0;
  const items = store.items.bind(store);
  const commit = store.commit.bind(store);
  store.items = (keys) => {
    reads += 1;
    return items(keys);
  };
  store.commit = async (given) => {
    const wanted = await items(given.wants ?? []);
    const outcome = await commit(given);
    return outcome.ok && given.wants !== undefined ? { ok: true, wanted } : outcome;
  };
  const ledger = new DocumentLedger(store);
  await ledger.owners.beat({ id: "o", host: "h", pid: 1 }, 15_000);
  const writer = new SessionWriter(ledger, "s");
  await writer.commit([{ kind: "state", scope: "session", delta: { list: [1] } }]);
  const claim = (id: string) =>
    writer.commit(
      [{ kind: "call-insert", call: buildCall("s", id, { status: "executing", owner: "o", attempt: 1 }) }],
      { owner: "o" },
    );
  return { ledger, writer, claim, reads: () => reads };
}

test("the state that came with a claim answers those who ask at that moment, each with a copy, and nobody later", async () => {
  const { ledger, claim, reads } = await claiming();
  await claim("a");
  const [one, other] = await Promise.all([ledger.state("s"), ledger.state("s")]);
  (one as { list: number[] }).list.push(2);
  expect([other, reads()]).toEqual([{ list: [1] }, 0]);
  await new Promise((resolve) => setImmediate(resolve));
  expect([await ledger.state("s"), reads()]).toEqual([{ list: [1] }, 1]);
});

test("the state that came with a claim is not used once this process has changed state", async () => {
  const { ledger, writer, claim, reads } = await claiming();
  await claim("a");
  await writer.commit([{ kind: "state", scope: "app", delta: { "app:rate": 2 } }]);
  expect([await ledger.state("s"), reads()]).toEqual([{ "app:rate": 2, list: [1] }, 1]);
});
