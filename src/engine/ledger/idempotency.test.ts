import { afterEach, beforeEach, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import { partsOf, recallResponse, receiveMessage, receiveOnce, useKey } from "../index.ts";
import { hostOf, message } from "../testing/execution.ts";
import { type IdempotentRequest, toRememberedRun } from "./idempotency.ts";
import type { Ledger } from "./ledger.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const session = { app: "bank", user: "ana", id: "s1" };
const once: IdempotentRequest = { principal: "ana", route: "run", key: "k1", requestDigest: "d1" };

let clock: ManualClock;
let ledger: Ledger;
let engine: Engine;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  engine = new Engine({ ledger, clock });
  engine.host(hostOf("bank", {}, async () => {}));
});

afterEach(async () => {
  await engine.close();
});

async function storedEvents(): Promise<number> {
  const key = (await ledger.load({ session }))?.session.key ?? "";
  return (await ledger.events(key)).length;
}

test("a message under a key is stored once, and the second time it says where the first went", async () => {
  const first = await receiveOnce(partsOf(engine), message(session, "hello"), once);
  if (!("frame" in first)) throw new Error("It was not taken.");
  const { frame, seq } = first;
  const again = await receiveOnce(partsOf(engine), message(session, "hello", "i2"), once);
  if (!("response" in again)) throw new Error("It was taken again.");
  const { session: key, invocation } = frame;
  expect(toRememberedRun(again.response)).toEqual({ session: key, invocation, seq });
  expect(await storedEvents()).toBe(1);
});

test("a repeat is told of the first message, not that the session is busy with it", async () => {
  const outcomes = await Promise.all(
    ["i1", "i2", "i3"].map((invocation) =>
      receiveOnce(partsOf(engine), message(session, "hello", invocation), once),
    ),
  );
  expect(outcomes.filter((outcome) => "frame" in outcome)).toHaveLength(1);
  expect(outcomes.every(({ ok }) => ok)).toBe(true);
  expect(await storedEvents()).toBe(1);
});

test("a message that is refused does not use up its key", async () => {
  await receiveMessage(partsOf(engine), message(session, "first"));
  const other = { ...once, key: "k2" };
  expect(await receiveOnce(partsOf(engine), message(session, "second", "i2"), other)).toMatchObject({
    code: "session-busy",
  });
  expect(await recallResponse(engine.ledger, other)).toBeUndefined();
});

test("another request under the key is refused, whichever came first", async () => {
  const another = { ...once, requestDigest: "d2" };
  await receiveOnce(partsOf(engine), message(session, "hello"), once);
  const refusal = { ok: false, code: "key-reused" };
  expect(await receiveOnce(partsOf(engine), message(session, "bye", "i2"), another)).toMatchObject(refusal);
  expect(await useKey(partsOf(engine), session, { once: another, meaning: null })).toMatchObject(refusal);
  expect(await engine.createSession({ ...session, id: "s2" }, {}, { once: another })).toMatchObject(refusal);
  expect(await useKey(partsOf(engine), session, { once, meaning: "another" })).toMatchObject({
    ok: true,
    response: { invocation: "i1" },
  });
});

test("keys are told apart by principal and route", async () => {
  await engine.createSession(session);
  const others = [once, { ...once, principal: "bob" }, { ...once, route: "decide" }];
  for (const [index, one] of others.entries()) {
    const about = { once: { ...one, requestDigest: `${index}` }, meaning: index };
    expect(await useKey(partsOf(engine), session, about)).toEqual({ ok: true, response: index });
  }
});

test("a key is forgotten after a day", async () => {
  await engine.createSession(session);
  await useKey(partsOf(engine), session, { once, meaning: null });
  await clock.advance(DAY_MS - 1);
  expect(await recallResponse(engine.ledger, once)).toMatchObject({ ok: true });
  await clock.advance(1);
  expect(await recallResponse(engine.ledger, once)).toBeUndefined();
  const another = { ...once, requestDigest: "d2" };
  expect(await useKey(partsOf(engine), session, { once: another, meaning: null })).toMatchObject({
    ok: true,
  });
});

test("a session made under a key is made once, under the first id", async () => {
  const made = await engine.createSession(session, {}, { once });
  expect(await engine.createSession({ ...session, id: "s2" }, {}, { once })).toEqual(made);
  expect((await ledger.sessions({ app: "bank" })).items).toHaveLength(1);
});

test("state is laid over what a session has, and nothing is made where there is none", async () => {
  expect(await engine.changeState(session, { a: 1 })).toMatchObject({ code: "unknown-session" });
  const made = await engine.createSession(session, { a: 1, b: 1 });
  if (!made.ok) throw new Error(made.message);
  expect(await engine.changeState(session, { b: 2, "user:c": 3 })).toEqual({ ok: true });
  expect(await ledger.state(made.key)).toEqual({ a: 1, b: 2, "user:c": 3 });
});
