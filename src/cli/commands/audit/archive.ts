import { partsOf, runArchive } from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { archiveFolder } from "../../../retention/index.ts";
import { BREAK_GLASS_FLAG, operatorHere } from "../../acting-here.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../../command.ts";
import { parseDuration } from "../../duration.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert } from "../../output.ts";
import { Progress } from "../../progress.ts";
import { withEngine } from "../../wiring.ts";

export const auditArchive: Command = {
  usage: "FOLDER --older-than AGE",
  about:
    "Writes compressed files into FOLDER with the journal of every session in which nothing is open and nothing has " +
    "happened for the given time, with all checkpoints, sealed with COUNTERSIGN_SECRET. Removes nothing. What is archived " +
    "already is not written again; an interrupted run is continued. `audit verify FILE…` checks the files without the ledger.",
  words: { names: ["FOLDER"] },
  flags: {
    "older-than": { type: "string", value: "AGE", help: "for example 12h, 30d or 52w (required)" },
    ...BREAK_GLASS_FLAG,
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "audit archive /var/archive --older-than 90d", says: "writes what is not archived yet" },
  ],
  run(invocation) {
    const { output, flags, words } = invocation;
    const [folder = ""] = words;
    const olderThanMs = ageOf(invocation);
    return withEngine(invocation, async (engine) => {
      const decider = await operatorHere(engine, invocation, "");
      // So that the files have the checkpoints over what is in them.
      await engine.head();
      const progress = new Progress();
      const unsound: string[] = [];
      const run = await runArchive(partsOf(engine), {
        folder: archiveFolder(folder),
        olderThanMs,
        decider,
        onUnsound: (_session, fault) => unsound.push(fault),
        onFile: (name) => progress.show(`${name} …`),
      }).finally(() => progress.end());
      if (run.ended === "elsewhere")
        throw new CountersignError(
          "ledger-busy",
          "Another process is archiving or erasing. Try again later.",
        );
      if (flags.has("json")) output.json({ ...run, faults: unsound });
      else {
        output.line(`Wrote ${count(run.files, "file")} with ${count(run.sessions, "session")}.`);
        for (const fault of unsound) output.prose(`Not archived: ${inert(fault)}`, "  ");
      }
      return unsound.length > 0 ? EXIT.failed : EXIT.ok;
    });
  },
};

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

function ageOf({ flags }: Invocation): number {
  const age = flags.text("older-than");
  if (age !== undefined) return parseDuration(age, "older-than");
  throw new CountersignError(
    "malformed-request",
    "`audit archive` needs --older-than AGE, for example 90d.",
    {
      details: { field: "older-than" },
    },
  );
}
