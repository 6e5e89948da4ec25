import { inspectLedger, migrateLedger, otherBuild } from "../../stores/index.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { inert } from "../output.ts";
import { withoutPassword } from "../serving/announce.ts";
import { ledgerUrl } from "../wiring.ts";

export const migrate: Command = {
  name: "migrate",
  summary: "create the ledger, or update its schema",
  usage: "[--dry-run]",
  about:
    "A process that opens a SQLite ledger migrates it automatically; use this command to do it earlier. " +
    "On PostgreSQL use this command or `serve --migrate`, with a role that may create tables. Several processes may run it at the same time. " +
    "You cannot undo it. Keep a backup if you may need to go back to an older Countersign.",
  flags: {
    "dry-run": { type: "boolean", help: "show what would be done, and change nothing" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "migrate --dry-run", says: "shows the current and the new version" },
    { line: "migrate --db sqlite:/data/ledger.db", says: "migrates this file" },
    { line: "migrate --db postgres://owner@db.internal/countersign", says: "migrates PostgreSQL" },
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
    if (!exists) output.prose(`${name} ${would} created with schema ${newest}.`);
    else if (version === newest)
      output.prose(`${name} already has the newest schema (${version}). Nothing to do.`);
    else if (version > newest)
      output.prose(
        `${name} has schema ${version}, which is newer than this Countersign (${newest}). Nothing to do.`,
      );
    else output.prose(`${name} ${would} migrated from schema ${version} to ${newest}.`);
    return EXIT.ok;
  },
};
