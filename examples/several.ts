// Many decisions: each has its own result, a bad one does not affect the others, and racing ones run the call once.
import assert from "node:assert/strict";
import { createEngine } from "../src/index.ts";

const engine = await createEngine({ ledger: "memory:" });
const sent: string[] = [];
const send = engine.gate("send", { requireConfirmation: true }, async ({ to }: { to: string }) => {
  sent.push(to);
  return { sentTo: to };
});

const by = { id: "ana" };
const ids: string[] = [];
for (const to of ["ben", "cleo"]) {
  const outcome = await send({ to }, { key: to, by });
  assert.equal(outcome.status, "pending");
  if (outcome.status === "pending") ids.push(outcome.confirmation.id);
}
const [ben = "", cleo = ""] = ids;

// #region several
const results = await engine.decide(
  [
    { id: ben, confirmed: true },
    { id: cleo, confirmed: false, reason: "not yet" },
    { id: "adk-nonsense", confirmed: true },
  ],
  { by: { id: "boss@corp" } },
);
const codes = results.map((result) => (result.ok ? result.confirmation.status : result.code));
console.log(codes); // [ "executing", "denied", "unknown-confirmation" ]
// #endregion
assert.deepEqual(codes, ["executing", "denied", "unknown-confirmation"]);

// #region racing
const race = await Promise.all(
  Array.from({ length: 50 }, () => engine.approve(ben, { by: { id: "boss@corp" } })),
);
console.log(race.every((answer) => answer.repeated)); // true: all fifty got the decision that stands
const [late] = await engine.decide([{ id: ben, confirmed: false }], { by: { id: "dora" } });
if (late?.ok === false) console.log(late.code); // already-decided
// #endregion
assert.ok(race.every((answer) => answer.repeated));
assert.equal(late?.ok, false);

const [first] = results;
if (first?.ok) await first.finished;
assert.deepEqual(sent, ["ben"], "one call ran, once");
assert.deepEqual(await send({ to: "cleo" }, { key: "cleo", by }), { status: "denied", reason: "not yet" });
await engine.close();
