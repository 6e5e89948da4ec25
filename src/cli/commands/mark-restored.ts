import type { RestoreReport } from "../../engine/index.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { Progress } from "../progress.ts";
import { commandLineFor, localPrincipal, VIA, withEngine } from "../wiring.ts";

export const markRestored: Command = {
  name: "mark-restored",
  summary: "after restoring a backup, and before serving it: run nothing twice",
  usage: "",
  about:
    "A backup does not know what happened after it. A call that was approved in it and had not begun may have run " +
    "since, and would run again: each becomes unknown, for a person to settle. A question that was open may have been " +
    "answered since: it says so to whoever decides it. What may be repeated is left alone; what ran when the backup was " +
    "made becomes unknown by itself. Run it while nothing serves the ledger. It may be run again, and is recorded.",
  flags: LEDGER_FLAG,
  examples: [
    { line: "mark-restored --db postgres://owner@db.internal/countersign", says: "then start the servers" },
  ],
  run(invocation) {
    return withEngine(invocation, async (engine) => {
      const progress = new Progress();
      const onProgress = ({ sessions }: RestoreReport): void =>
        progress.show(`${sessions} sessions looked at …`);
      const report = await engine
        .markRestored({ by: localPrincipal(), via: VIA }, onProgress)
        .finally(() => progress.end());
      if (invocation.flags.has("json")) invocation.output.json({ ...report });
      else print(invocation, report);
      return EXIT.ok;
    });
  },
};

function print(invocation: Invocation, { sessions, calls, waiting }: RestoreReport): void {
  const { output } = invocation;
  output.line(`Looked at ${count(sessions, "session")}.`);
  if (calls > 0) {
    output.prose(
      `${count(calls, "approved call")} had not begun and may have run since: unknown now, until a person settles them.`,
    );
  }
  if (waiting > 0) {
    output.prose(
      `${count(waiting, "question")} waited in the backup and may have been answered since, and the call have run: they say so now, to whoever decides them.`,
    );
  }
  if (calls + waiting > 0) output.line(commandLineFor(invocation)("pending"));
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
