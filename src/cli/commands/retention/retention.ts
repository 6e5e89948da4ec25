import {
  type JournalReport,
  type Planned,
  partsOf,
  planRetention,
  runRetention,
} from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import type { RetentionSettings } from "../../../retention/index.ts";
import { BREAK_GLASS_FLAG, operatorHere } from "../../acting-here.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../../command.ts";
import { absoluteTime } from "../../duration.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert } from "../../output.ts";
import { Progress } from "../../progress.ts";
import { openRetentionFile } from "../../retention/open-file.ts";
import { withEngine } from "../../wiring.ts";

const WORDS = { names: ["FILE"] } as const;

export const retentionPlan: Command = {
  usage: "FILE",
  about:
    "Lists the sessions whose content, or whose journal, is past its age by the rules in FILE, and those of them that a legal hold keeps. " +
    "Changes nothing.",
  words: WORDS,
  flags: LEDGER_FLAG,
  examples: [
    { line: "retention plan retention.yaml", says: "one line for each session, and the number" },
    { line: "retention plan retention.yaml --json", says: "one JSON object a line" },
  ],
  run(invocation) {
    const { output, flags } = invocation;
    const { rules } = readSettings(invocation);
    return withEngine(invocation, async (engine) => {
      const counts = { content: 0, journal: 0, nothing: 0 };
      for await (const planned of planRetention(partsOf(engine), rules)) {
        counts[planned.goes] += 1;
        if (flags.has("json")) output.jsonLine({ ...planned });
        else output.line(describe(planned));
      }
      if (!flags.has("json"))
        output.line(
          `Would erase the content of ${sessions(counts.content)}${rules.journal === undefined ? "" : `, and the journal of ${sessions(counts.journal)}`}; holds keep ${sessions(counts.nothing)}.`,
        );
      return EXIT.ok;
    });
  },
};

export const retentionRun: Command = {
  usage: "FILE",
  about:
    "Erases what `retention plan FILE` lists. Only content of sessions in which nothing is open, running or unknown. Holds " +
    "are checked again in the transaction that erases. Who decided what and when, and all digests, are kept until the age " +
    "that the rules give to `journal`; `audit verify` still passes. One process at a time does this; the next run continues an interrupted one. You cannot undo this.",
  words: WORDS,
  flags: { ...BREAK_GLASS_FLAG, ...LEDGER_FLAG },
  examples: [
    { line: "retention run retention.yaml", says: "what `serve --retention FILE` does on a schedule" },
  ],
  run(invocation) {
    const { output, flags } = invocation;
    const { rules } = readSettings(invocation);
    return withEngine(invocation, async (engine) => {
      const decider = await operatorHere(engine, invocation, "");
      const progress = new Progress();
      const run = await runRetention(partsOf(engine), {
        rules,
        decider,
        onProgress: ({ erased }) => progress.show(`${erased} sessions erased …`),
      }).finally(() => progress.end());
      if (run.ended === "elsewhere")
        throw new CountersignError(
          "ledger-busy",
          "Another process runs retention on this ledger now. Try again later.",
        );
      if (flags.has("json")) output.json({ ...run });
      else {
        output.line(`Erased the content of ${sessions(run.erased)}; holds kept ${sessions(run.held)}.`);
        if (run.journal !== undefined) output.line(describeJournal(run.journal));
      }
      return run.journal === undefined || run.journal.unsound === 0 ? EXIT.ok : EXIT.failed;
    });
  },
};

function readSettings({ words: [file = ""] }: Invocation): RetentionSettings {
  return openRetentionFile(file);
}

function describe({ app, user, id, idleSince, goes, hold }: Planned): string {
  const what = goes === "journal" ? "  its journal" : "";
  const kept = hold === undefined ? what : `  kept by hold ${hold}`;
  return `${inert(app)}/${inert(user)}/${inert(id)}  idle since ${absoluteTime(idleSince)}${kept}`;
}

function describeJournal({ sessions: gone, commits, held, unarchived, unsound }: JournalReport): string {
  const kept = [
    ...(held === 0 ? [] : [`holds kept ${sessions(held)}`]),
    ...(unarchived === 0
      ? []
      : [`${sessions(unarchived)} stay until they are archived (countersign audit archive)`]),
    ...(unsound === 0 ? [] : [`${sessions(unsound)} stay because the chain is not intact`]),
  ];
  const counted = `Pruned ${commits} commits of ${sessions(gone)} from the journal`;
  return `${[counted, ...kept].join("; ")}.`;
}

function sessions(count: number): string {
  return `${count} ${count === 1 ? "session" : "sessions"}`;
}
