import {
  type ArchiveVerification,
  besideLedger,
  type Engine,
  type Fault,
  type NamedLines,
  type Verification,
  verifyArchives,
} from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert } from "../../output.ts";
import { Progress } from "../../progress.ts";
import { withEngine } from "../../wiring.ts";

const HEAD = /^(?:0:empty|[1-9]\d*:[\w-]{43})$/;

export const auditVerify: Command = {
  usage: "[FILE…] [--ledger] [--head HEAD]",
  about:
    "Recomputes every chain and every checkpoint, and lists what this check cannot detect. With --head, a value " +
    "that `audit head` printed earlier and you stored elsewhere, it also detects truncation. With FILEs, which " +
    "`audit archive` wrote, it checks those, and opens no ledger; with --ledger too, it checks both, and that they agree.",
  words: { names: ["FILE"], optional: true, many: true },
  flags: {
    head: { type: "string", value: "HEAD", help: "a head that `audit head` printed" },
    ledger: { type: "boolean", help: "with FILEs: check the ledger too, and that it agrees with them" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "audit verify", says: "checks everything" },
    {
      line: "audit verify --head 12:wmFl0z5nd2b…",
      says: "also checks that the journal still contains this head",
    },
    { line: "audit verify archive/*.gz", says: "checks archive files without the ledger" },
    { line: "audit verify archive/*.gz --ledger", says: "checks both, and that they agree" },
  ],
  run(invocation) {
    const { flags, words } = invocation;
    const head = flags.text("head");
    if (words.length === 0 && flags.has("ledger"))
      throw new CountersignError("malformed-request", "--ledger needs FILEs to compare the ledger with.", {
        details: { field: "ledger" },
      });
    if (words.length > 0 && !flags.has("ledger")) return verifyFiles(invocation);
    if (head !== undefined && !HEAD.test(head))
      throw new CountersignError(
        "malformed-request",
        `--head: "${inert(head, 80)}" is not a head. \`countersign audit head\` prints one: a number, a colon and 43 characters. Copy all of it.`,
        { details: { field: "head" } },
      );
    return withEngine(invocation, async (engine) => {
      const ledger = await verifyLedger(engine, head);
      if (words.length === 0) {
        if (flags.has("json")) invocation.output.json(ledger);
        else printVerification(invocation, ledger);
        return ledger.ok ? EXIT.ok : EXIT.failed;
      }
      const archives = await verifyArchives(await filesOf(words), {
        secret: secretOf(invocation),
        beside: await besideLedger(engine.ledger),
      });
      if (flags.has("json")) invocation.output.json({ ok: ledger.ok && archives.ok, ledger, archives });
      else {
        printVerification(invocation, ledger);
        invocation.output.line();
        printArchives(invocation, archives);
      }
      return ledger.ok && archives.ok ? EXIT.ok : EXIT.failed;
    });
  },
};

async function verifyLedger(engine: Engine, head: string | undefined): Promise<Verification> {
  const progress = new Progress();
  const onRecords = (records: number): void => progress.show(`${records} records checked …`);
  return engine.verify({ ...(head === undefined ? {} : { head }), onRecords }).finally(() => progress.end());
}

async function verifyFiles(invocation: Invocation): Promise<number> {
  const archives = await verifyArchives(await filesOf(invocation.words), { secret: secretOf(invocation) });
  if (invocation.flags.has("json")) invocation.output.json(archives);
  else printArchives(invocation, archives);
  return archives.ok ? EXIT.ok : EXIT.failed;
}

async function filesOf(words: readonly string[]): Promise<readonly NamedLines[]> {
  // Loaded only where it is needed: most who verify have a ledger and no files.
  const { archiveFileLines } = await import("../../../retention/index.ts");
  return words.map((name) => ({ name, lines: archiveFileLines(name) }));
}

function secretOf({ env }: Pick<Invocation, "env">): string | undefined {
  return env["COUNTERSIGN_SECRET"] || undefined;
}

function printArchives(invocation: Pick<Invocation, "output" | "env">, checked: ArchiveVerification): void {
  const { output } = invocation;
  const { ok, files, sessions, records, erased, checkpoints } = checked;
  output.line(`${verdict(invocation, "archives are", ok)}: ${count(records, "record")} in`);
  output.line(`${count(sessions, "session")}, ${count(checkpoints, "checkpoint")}, ${count(files, "file")}.`);
  printFindings(invocation, checked, erased);
}

/** The counts, the errors, and what could not be checked. */
function printVerification(
  { output, env }: Pick<Invocation, "output" | "env">,
  verification: Verification,
): void {
  const { ok, records, erased, streams, checkpoints } = verification;
  output.line(
    `${verdict({ output }, "journal is", ok)}: ${count(records, "record")} in ${count(streams, "session")}, ${count(checkpoints, "checkpoint")}.`,
  );
  printFindings({ output, env }, verification, erased);
}

function verdict({ output }: Pick<Invocation, "output">, subject: string, ok: boolean): string {
  return ok
    ? output.style(["bold", "green"], `The ${subject} intact`)
    : output.style(["bold", "red"], `The ${subject} NOT intact`);
}

/** The errors, and what could not be checked. */
function printFindings(
  { output, env }: Pick<Invocation, "output" | "env">,
  {
    ok,
    faults,
    cannotDetect,
  }: { readonly ok: boolean; readonly faults: readonly Fault[]; readonly cannotDetect: readonly string[] },
  erased: number,
): void {
  if (erased > 0)
    output.line(`${count(erased, "record")} erased with their sessions; only the digests are left.`);
  for (const { where, what } of faults) output.prose(`${inert(where)}: ${inert(what)}`, "  ");
  if (!ok) {
    const secret = env["COUNTERSIGN_SECRET"] ? "is set here" : "is not set here";
    output.prose(
      `This check fails if the servers use a different COUNTERSIGN_SECRET. The variable ${secret}.`,
    );
  }
  output.line();
  output.line("This check cannot detect:");
  for (const sentence of cannotDetect) output.prose(sentence, "  - ");
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
