// The first lines of the README, as they stand there. test/docs/pages.test.ts compares what they print.
// #region quickstart
import { createEngine } from "../src/index.ts";

const engine = await createEngine({ ledger: "memory:" }); // or sqlite:FILE, or postgres://…
const pay = engine.gate("pay", { requireConfirmation: true }, async (args) => {
  console.log("paying", args);
  return "paid";
});
const order = { key: "order-17", by: { id: "ana" } };

const first = await pay({ amount: 2500 }, order);
console.log(first.status);
for (let times = 0; times < 2 && first.status === "pending"; times++) {
  const approved = await engine.approve(first.confirmation.id, { by: { id: "boss" } });
  console.log((await approved.finished).status);
}
console.log((await pay({ amount: 2500 }, order)).status);
await engine.close();
// #endregion
