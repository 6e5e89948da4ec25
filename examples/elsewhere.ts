// One process asks and runs, another one decides: the pending call is in the ledger, not in a process.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "countersign-example-"));
const ledger = `sqlite:${join(folder, "ledger.db")}`;
// Keeps the process alive, as a real server would; the engine alone does not.
const server = setInterval(() => {}, 1_000);

// #region worker
const host = await createEngine({ ledger });
const deploy = host.gate("deploy", { requireConfirmation: true, expiresInMs: 3_600_000 }, async () => "live");
const worker = host.work(); // runs what is decided elsewhere, expires what nobody decides, recovers after a crash
const outcome = await deploy({}, { key: "release-42", by: { id: "ci" } });
// #endregion
assert.equal(outcome.status, "pending");
if (outcome.status !== "pending") throw new Error("it should wait");

// #region decider
const elsewhere = await createEngine({ ledger });
const decided = await elsewhere.approve(outcome.confirmation.id, { by: { id: "boss@corp" } });
if (decided.ok) console.log((await decided.finished).status); // succeeded
// #endregion
assert.ok(decided.ok && !decided.repeated);
assert.deepEqual(await deploy({}, { key: "release-42", by: { id: "ci" } }), {
  status: "succeeded",
  result: "live",
});

clearInterval(server);
await worker.stop();
await elsewhere.close();
await host.close();
rmSync(folder, { recursive: true });
