// Opens the ledger when told to, and says its digest key.
import { once } from "node:events";
import { openSqliteLedger } from "../index.ts";

const [path = ""] = process.argv.slice(2);
process.send?.({ started: true });
await once(process, "message");
const ledger = await openSqliteLedger({ path });
process.send?.({ digestKey: Buffer.from(ledger.digestKey).toString("hex") });
await ledger.close();
process.disconnect();
