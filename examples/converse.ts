// Sending messages while a call is pending: it stays pending, and the model knows that it has not run.
import assert from "node:assert/strict";
import { Agent, Runner, tool } from "../src/index.ts";
import { scripted } from "../src/models/scripted/index.ts";

let deployed = 0;
const deploy = tool({
  name: "deploy",
  description: "Deploys.",
  requireConfirmation: true,
  expiresInMs: 3_600_000,
  execute: () => ({ release: ++deployed }),
});
const model = scripted(({ contents }) => {
  const results = contents.flatMap(({ parts }) => parts.flatMap((part) => part.functionResponse ?? []));
  if (contents.length === 1) return [{ functionCall: { name: "deploy", args: {} } }];
  return `The deployment: ${JSON.stringify(results[0]?.response)}`;
});
const runner = new Runner({ agent: new Agent({ name: "ops", model, tools: [deploy] }), ledger: "memory:" });

// #region converse
const asked = await runner.send("Deploy it", { user: "ana" });
const talk = await runner.send("Is it live?", { user: "ana", session: asked.session });
console.log(talk.text); // the model was told that the call awaits a person's decision and has not run

for (const { id } of talk.pending) {
  const { finished } = await runner.approve(id, { by: { id: "boss@corp" } });
  console.log((await finished).text); // and now it is told the release
}
// #endregion
assert.match(talk.text, /has not run/);
assert.equal(talk.status, "paused", "the question is still there");
assert.equal(deployed, 1);

const [open] = await runner.pending();
assert.equal(open, undefined);
await runner.close();
