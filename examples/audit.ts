// What `verify` finds when somebody edits the database, and when it needs a stored head.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEngine } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "countersign-example-"));
const file = join(folder, "ledger.db");
const engine = await createEngine({ ledger: `sqlite:${file}` });
const wipe = engine.gate("wipe", { requireConfirmation: true }, async () => "wiped");
const asked = await wipe({}, { key: "disk-1", by: { id: "ana" } });
if (asked.status === "pending") await engine.deny(asked.confirmation.id, { by: { id: "ben" }, reason: "no" });

// #region verify
const head = await engine.head(); // keep it where the database's writers cannot reach it
const verification = await engine.verify({ head });
console.log(verification.ok, verification.records); // true 2
// #endregion
assert.ok(verification.ok);

const database = new DatabaseSync(file);
const edit = "update log set body = replace(body, ?, ?) where kinds like '%confirmation-denied%'";
database.prepare(edit).run('"ben"', '"eve"');
const edited = await engine.verify();
assert.equal(edited.faults[0]?.what, "its body was changed");

database.prepare(edit).run('"eve"', '"ben"');
assert.ok((await engine.verify()).ok);

database.exec(`
  delete from log;
  delete from checkpoints;
  update documents set body = json_set(body, '$.head.chain', json('{"n":0,"hash":""}'));
`);
assert.ok((await engine.verify()).ok, "a journal that was emptied with care looks like a new one…");
const cut = await engine.verify({ head });
assert.match(cut.faults[0]?.what ?? "", /truncated/, "…unless a head was kept");
console.log(cut.faults);

database.close();
await engine.close();
rmSync(folder, { recursive: true });
