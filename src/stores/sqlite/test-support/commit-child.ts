// Makes so many commits in a session of its own, as fast as it can, and says how long it had to wait.
import { once } from "node:events";
import { SessionWriter } from "../../../engine/ledger.contract/build.ts";
import { openSqliteLedger } from "../index.ts";

const [path = "", key = "", count = "0"] = process.argv.slice(2);
const ledger = await openSqliteLedger({ path });
const writer = new SessionWriter(ledger, key);
await writer.commit();
process.send?.({ started: true });
await once(process, "message");

let longestCommitMs = 0;
let longestBlockMs = 0;
let lastTick = performance.now();
const ticks = setInterval(() => {
  longestBlockMs = Math.max(longestBlockMs, performance.now() - lastTick);
  lastTick = performance.now();
}, 1);
for (let i = 0; i < Number(count); i++) {
  const startedAt = performance.now();
  await writer.commit([writer.event(`event ${i}`)], { sync: i % 2 === 0 });
  longestCommitMs = Math.max(longestCommitMs, performance.now() - startedAt);
}
clearInterval(ticks);
process.send?.({ longestCommitMs, longestBlockMs });
await ledger.close();
process.disconnect();
