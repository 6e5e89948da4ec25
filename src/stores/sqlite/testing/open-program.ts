// Opens the ledger when told to, and says its digest key.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { openSqliteLedger } from "../open.ts";

const [path = ""] = process.argv.slice(2);
writeSync(1, '{"type":"started"}\n');
await once(process.stdin, "data");
const ledger = await openSqliteLedger({ path });
const digestKey = Buffer.from(ledger.digestKey).toString("hex");
writeSync(1, `${JSON.stringify({ type: "opened", digestKey })}\n`);
await ledger.close();
process.stdin.destroy();
