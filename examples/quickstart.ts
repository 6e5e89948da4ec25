// The first program of the README. test/docs/pages.test.ts compares its output with the README.
// #region quickstart
import { createEngine } from "../src/index.ts";

const engine = await createEngine({ ledger: "memory:" }); // or sqlite:FILE, or postgres://…
let payments = 0;
const pay = engine.gate("pay", { requireConfirmation: true }, async () => `payment number ${++payments}`);
console.log((await pay({ amount: 2500 }, { key: "order-17", by: { id: "ana" } })).status);
for (const { id } of await engine.pending()) {
  const twice = [1, 2].map(() => engine.approve(id, { by: { id: "boss" } }));
  for (const { finished } of await Promise.all(twice)) console.log((await finished).result);
}
await engine.close();
// #endregion
