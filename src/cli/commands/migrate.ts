import { inspectLedger, migrateLedger, otherBuild } from "../../stores/index.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { inert } from "../output.ts";
import { withoutPassword } from "../serving/announce.ts";
import { ledgerUrl } from "../wiring.ts";

export const migrate: Command = {
  name: "migrate",
  summary: "bring the ledger's schema up to date, or make the ledger",
  usage: "[--dry-run]",
  about:
    "Every process that opens a SQLite ledger does this by itself; run it where you want to see it happen before. " +
    "On PostgreSQL it is done by this command, under a role that may create tables; any number may run it at once, and `serve --migrate` does it too. " +
    "There is no way back: keep a copy if you may have to return to an older Countersign.",
  flags: {
    "dry-run": { type: "boolean", help: "only say what it would do" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "migrate --dry-run", says: "which version it has, and which it would get" },
    { line: "migrate --db sqlite:/data/ledger.db", says: "does it" },
    { line: "migrate --db postgres://owner@db.internal/countersign", says: "does it in PostgreSQL" },
  ],
  async run(invocation) {
    const { output, flags } = invocation;
    const url = ledgerUrl(invocation);
    const dryRun = flags.has("dry-run");
    const { exists, version, newest, isSameBuild } = await inspectLedger(url);
    if (!dryRun) await migrateLedger(url);
    else if (!isSameBuild) throw otherBuild(withoutPassword(url), Math.min(version, newest));
    if (flags.has("json")) {
      output.json({
        ledger: withoutPassword(url),
        existed: exists,
        from: version,
        to: Math.max(version, newest),
        dryRun,
      });
      return EXIT.ok;
    }
    const name = inert(withoutPassword(url));
    const would = dryRun ? "would be" : "was";
    if (!exists) output.prose(`${name} ${would} made, with schema ${newest}.`);
    else if (version === newest) output.prose(`${name} has schema ${version}, the newest; nothing to do.`);
    else if (version > newest)
      output.prose(`${name} has schema ${version} and this Countersign knows ${newest}; nothing to do.`);
    else output.prose(`${name} ${would} brought from schema ${version} to ${newest}.`);
    return EXIT.ok;
  },
};
