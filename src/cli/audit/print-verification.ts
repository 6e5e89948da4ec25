import type { ArchiveVerification, Fault, ReceiptVerification, Verification } from "../../engine/index.ts";
import type { Invocation } from "../command.ts";
import { inert, type Output } from "../output.ts";

type Printing = Pick<Invocation, "output" | "env">;

/** The counts, the errors, and what could not be checked. */
export function printVerification({ output, env }: Printing, checked: Verification): void {
  const { ok, records, streams, checkpoints, pruned } = checked;
  output.line(
    `${verdict(output, "journal is", ok)}: ${count(records, "record")} in ${count(streams, "session")}, ${count(checkpoints, "checkpoint")}.`,
  );
  if (pruned !== undefined)
    output.prose(
      `${count(pruned.commits, "commit")} of ${count(pruned.sessions, "session")} pruned, up to the head ${pruned.head}; ` +
        `the last by ${inert(pruned.by)} (${inert(pruned.via)}) at ${pruned.at}.`,
    );
  printFindings(output, checked, ok ? undefined : secretHint(env));
}

export function printArchives({ output, env }: Printing, checked: ArchiveVerification): void {
  const { ok, files, sessions, records, checkpoints } = checked;
  output.line(`${verdict(output, "archives are", ok)}: ${count(records, "record")} in`);
  output.line(`${count(sessions, "session")}, ${count(checkpoints, "checkpoint")}, ${count(files, "file")}.`);
  printFindings(output, checked, ok ? undefined : secretHint(env));
}

export function printReceipts({ output }: Printing, checked: ReceiptVerification): void {
  const { ok, receipts, newest } = checked;
  output.line(`${verdict(output, "receipts are", ok)}: ${count(receipts, "receipt")}.`);
  if (newest !== undefined)
    output.line(`The newest is of ${newest.at}, over ${count(newest.commits, "commit")}.`);
  printFindings(output, checked);
}

function verdict(output: Output, subject: string, ok: boolean): string {
  return ok
    ? output.style(["bold", "green"], `The ${subject} intact`)
    : output.style(["bold", "red"], `The ${subject} NOT intact`);
}

interface Findings {
  /** How many records were erased. */
  readonly erased?: number;
  readonly faults: readonly Fault[];
  readonly cannotDetect: readonly string[];
}

function printFindings(output: Output, { erased = 0, faults, cannotDetect }: Findings, hint?: string): void {
  if (erased > 0)
    output.line(`${count(erased, "record")} erased with their sessions; only the digests are left.`);
  for (const { where, what } of faults) output.prose(`${inert(where)}: ${inert(what)}`, "  ");
  if (hint !== undefined) output.prose(hint);
  output.line();
  output.line("This check cannot detect:");
  for (const sentence of cannotDetect) output.prose(sentence, "  - ");
}

function secretHint(env: NodeJS.ProcessEnv): string {
  const secret = env["COUNTERSIGN_SECRET"] ? "is set here" : "is not set here";
  return `This check fails if the servers use a different COUNTERSIGN_SECRET. The variable ${secret}.`;
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
