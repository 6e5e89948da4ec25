import type { JsonObject } from "../../protocol/index.ts";
import { inspectLedger, migrateLedger, otherBuild, planLedgerMigration } from "../../stores/index.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { inert } from "../output.ts";
import { withoutPassword } from "../serving/announce.ts";
import { ledgerUrl } from "../wiring.ts";

export const migrate: Command = {
  usage: "[--dry-run | --plan]",
  about:
    "A process that opens a SQLite ledger migrates it automatically; use this command to do it earlier. " +
    "On PostgreSQL use this command or `serve --migrate`, with a role that may create tables. Several processes may run it at the same time. " +
    "You cannot undo it. Keep a backup if you may need to go back to an older Countersign.",
  flags: {
    "dry-run": { type: "boolean", help: "show the versions, and change nothing" },
    plan: { type: "boolean", help: "show each statement, its locks and an estimate, and change nothing" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "migrate --dry-run", says: "shows the current and the new version" },
    { line: "migrate --plan", says: "shows the statements and their locks" },
    { line: "migrate --db sqlite:/data/ledger.db", says: "migrates this file" },
    { line: "migrate --db postgres://owner@db.internal/countersign", says: "migrates PostgreSQL" },
  ],
  async run(invocation) {
    const { output, flags } = invocation;
    const url = ledgerUrl(invocation);
    if (flags.has("plan")) return printPlan(invocation, url);
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

/** Each migration that has not been made: its statements, the locks they take, about how long they take. */
async function printPlan({ output, flags }: Invocation, url: string): Promise<number> {
  const plan = await planLedgerMigration(url);
  if (flags.has("json")) {
    output.json({ ledger: withoutPassword(url), ...(plan as unknown as JsonObject) });
    return EXIT.ok;
  }
  const name = inert(withoutPassword(url));
  if (plan.migrations.length === 0) {
    output.prose(`${name} has schema ${plan.from}. Nothing to do.`);
    return EXIT.ok;
  }
  output.prose(
    `${name} would be migrated from schema ${plan.from} to ${plan.to}, in one transaction. Nothing was changed.`,
  );
  for (const { version, breaking, statements } of plan.migrations) {
    const effect = breaking ? "breaking: stop processes of older versions first" : "older versions go on";
    output.line(output.style("bold", `schema ${version}, ${effect}`));
    for (const { text, locks, seconds } of statements) {
      const held = locks.map(
        ({ table, lock, blocks, rows }) => `${lock} on ${table}, about ${rows} rows, blocks ${blocks}`,
      );
      output.line(`  ${inert(text.replaceAll(/\s+/g, " "))}`);
      output.line(
        `    locks: ${held.join("; ") || "none that anybody waits for"}; about ${seconds.toFixed(1)} s`,
      );
    }
  }
  return EXIT.ok;
}
