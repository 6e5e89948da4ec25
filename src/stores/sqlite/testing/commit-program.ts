// Makes so many commits in a session of its own, as fast as it can, and says how long it had to wait.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { openSqliteLedger } from "../open.ts";

const [path = "", key = "", count = "0"] = process.argv.slice(2);
const ledger = await openSqliteLedger({ path });
writeSync(1, '{"type":"started"}\n');
await once(process.stdin, "data");

let longestCommitMs = 0;
let longestBlockMs = 0;
let lastTick = performance.now();
const ticks = setInterval(() => {
  longestBlockMs = Math.max(longestBlockMs, performance.now() - lastTick);
  lastTick = performance.now();
}, 1);
for (let version = 0; version < Number(count); version++) {
  const startedAt = performance.now();
  const seq = version + 1;
  const event = { id: `${key}-${seq}`, invocationId: "i", author: "user", timestamp: 0 };
  await ledger.commit({
    session: {
      key,
      version,
      ...(version === 0 ? { create: { app: "bank", user: "ana", id: key } } : {}),
    },
    change: { nextSeq: seq + 1, open: 0, ready: 0, bytes: 0, chain: { n: seq, hash: "" }, updatedAt: 0 },
    writes: [],
    log: {
      session: key,
      n: seq,
      at: 0,
      kinds: [],
      digest: "",
      hash: "",
      events: seq,
      body: JSON.stringify({ records: [], events: [event] }),
    },
    sync: version % 2 === 0,
  });
  longestCommitMs = Math.max(longestCommitMs, performance.now() - startedAt);
}
clearInterval(ticks);
writeSync(1, `${JSON.stringify({ type: "done", longestCommitMs, longestBlockMs })}\n`);
await ledger.close();
process.stdin.destroy();
