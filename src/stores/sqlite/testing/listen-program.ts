// Listens for changes and ends by itself: listening keeps no process alive.
import { openSqliteLedger } from "../open.ts";

const [path = ""] = process.argv.slice(2);
const ledger = await openSqliteLedger({ path });
ledger.onChange(() => {});
