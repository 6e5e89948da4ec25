import type { RestoreReport } from "../../engine/index.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { Progress } from "../progress.ts";
import { commandLineFor, localPrincipal, VIA, withEngine } from "../wiring.ts";

export const markRestored: Command = {
  usage: "",
  about:
    "A backup does not contain what happened after it. A call that was approved but not started in the backup may have run " +
    "since then, and would run again. Each such call becomes unknown, and a person must settle it. An open question may have been " +
    "answered since then; its card now says so. Grants may have been used since then; they are revoked. Idempotent and read-only calls stay as they are. Calls that were running in " +
    "the backup become unknown anyway. Run this while no server uses the ledger. Running it twice is harmless. It is recorded.",
  flags: LEDGER_FLAG,
  examples: [
    { line: "mark-restored --db postgres://owner@db.internal/countersign", says: "then start the servers" },
  ],
  run(invocation) {
    return withEngine(invocation, async (engine) => {
      const progress = new Progress();
      const onProgress = ({ sessions }: RestoreReport): void =>
        progress.show(`${sessions} sessions checked …`);
      const report = await engine
        .markRestored({ by: localPrincipal(), via: VIA }, onProgress)
        .finally(() => progress.end());
      if (invocation.flags.has("json")) invocation.output.json({ ...report });
      else print(invocation, report);
      return EXIT.ok;
    });
  },
};

function print(invocation: Invocation, { sessions, calls, waiting, grants }: RestoreReport): void {
  const { output } = invocation;
  output.line(`Checked ${count(sessions, "session")}.`);
  if (calls > 0) {
    output.prose(
      `${count(calls, "approved call")} may have run after the backup. They are now unknown; a person must settle them.`,
    );
  }
  if (waiting > 0) {
    output.prose(
      `${count(waiting, "open question")} may have been answered after the backup, and the call may have run. Their cards now say so.`,
    );
  }
  if (grants > 0)
    output.prose(`${count(grants, "grant")} may have been used after the backup. They are now revoked.`);
  if (calls + waiting > 0) output.line(commandLineFor(invocation)("pending"));
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
