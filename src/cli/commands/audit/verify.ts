import type { Verification } from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert } from "../../output.ts";
import { Progress } from "../../progress.ts";
import { withEngine } from "../../wiring.ts";

const HEAD = /^(?:0:empty|[1-9]\d*:[\w-]{43})$/;

export const auditVerify: Command = {
  usage: "[--head HEAD]",
  about:
    "Recomputes every chain and every checkpoint, and lists what this check cannot detect. With --head, a value " +
    "that `audit head` printed earlier and you stored elsewhere, it also detects truncation.",
  flags: {
    head: { type: "string", value: "HEAD", help: "a head that `audit head` printed" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "audit verify", says: "checks everything" },
    {
      line: "audit verify --head 12:wmFl0z5nd2b…",
      says: "also checks that the journal still contains this head",
    },
  ],
  run(invocation) {
    const head = invocation.flags.text("head");
    if (head !== undefined && !HEAD.test(head))
      throw new CountersignError(
        "malformed-request",
        `--head: "${inert(head, 80)}" is not a head. \`countersign audit head\` prints one: a number, a colon and 43 characters. Copy all of it.`,
        { details: { field: "head" } },
      );
    return withEngine(invocation, async (engine) => {
      const progress = new Progress();
      const onRecords = (records: number): void => progress.show(`${records} records checked …`);
      const verification = await engine
        .verify({ ...(head === undefined ? {} : { head }), onRecords })
        .finally(() => progress.end());
      if (invocation.flags.has("json")) invocation.output.json(verification);
      else printVerification(invocation, verification);
      return verification.ok ? EXIT.ok : EXIT.failed;
    });
  },
};

/** The counts, the errors, and what could not be checked. */
function printVerification(
  { output, env }: Pick<Invocation, "output" | "env">,
  verification: Verification,
): void {
  const { ok, records, erased, streams, checkpoints, faults, cannotDetect } = verification;
  const verdict = ok
    ? output.style(["bold", "green"], "The journal is intact")
    : output.style(["bold", "red"], "The journal is NOT intact");
  output.line(
    `${verdict}: ${count(records, "record")} in ${count(streams, "session")}, ${count(checkpoints, "checkpoint")}.`,
  );
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
