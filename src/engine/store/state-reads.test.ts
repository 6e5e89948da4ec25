import { expect, test } from "vitest";
import { MemoryStore } from "../../stores/memory/index.ts";
import { systemClock } from "../common/index.ts";
import { Engine } from "../engine.ts";
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
