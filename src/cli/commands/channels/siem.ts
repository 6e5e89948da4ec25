import {
  type AllSetAside,
  dropSetAside,
  listSetAside,
  retrySetAside,
  type WhichSetAside,
} from "../../../channels/siem/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../../command.ts";
import { absoluteTime } from "../../duration.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert, type Output } from "../../output.ts";
import { withEngine } from "../../wiring.ts";

const WORDS = { names: ["<export>", "<record>"], optional: true } as const;

export const siemList: Command = {
  usage: "",
  about:
    "The export of the journal sets a record aside if its address refuses it and accepts others. Lists each one: the " +
    "export and the number to use with `siem retry` and `siem drop`, when it was refused, and the answer.",
  flags: LEDGER_FLAG,
  examples: [
    { line: "siem list", says: "the records that are missing at the address" },
    { line: "siem list --json", says: "as JSON" },
  ],
  run(invocation) {
    const { output, flags } = invocation;
    return withEngine(invocation, async ({ ledger }) => {
      const items = await listSetAside(ledger.items);
      if (flags.has("json")) output.json({ items });
      else printAll(output, items);
      return EXIT.ok;
    });
  },
};

export const siemRetry: Command = {
  usage: "<export> <record> | --all",
  about:
    "A server that runs the export sends each of them once. What is refused again stays in the list, with the new answer.",
  words: WORDS,
  flags: { all: { type: "boolean", help: "all records in the list" }, ...LEDGER_FLAG },
  examples: [
    { line: "siem retry siem 1042", says: "one record" },
    { line: "siem retry --all", says: "all of them, after the cause is fixed" },
  ],
  run: (invocation) =>
    change(invocation, {
      name: "siem retry",
      done: "To be sent again",
      member: "queued",
      how: retrySetAside,
    }),
};

export const siemDrop: Command = {
  usage: "<export> <record> | --all",
  about: "Removes the records from `siem list`. The journal keeps them.",
  words: WORDS,
  flags: { all: { type: "boolean", help: "all records in the list, of all exports" }, ...LEDGER_FLAG },
  examples: [{ line: "siem drop siem 1042", says: "removes one record from the list" }],
  run: (invocation) =>
    change(invocation, { name: "siem drop", done: "Dropped", member: "dropped", how: dropSetAside }),
};

interface Change {
  readonly name: string;
  readonly done: string;
  /** In the JSON answer. */
  readonly member: string;
  readonly how: typeof retrySetAside;
}

function change(invocation: Invocation, { name, done, member, how }: Change): Promise<number> {
  const which = namedIn(invocation, name);
  const { output, flags } = invocation;
  return withEngine(invocation, async ({ ledger }) => {
    const count = await how(ledger.items, which);
    if (flags.has("json")) output.json({ [member]: count });
    else output.line(`${done}: ${which === "all" ? count : `${inert(which.name)} ${which.seq}`}.`);
    return EXIT.ok;
  });
}

function namedIn({ words, flags }: Invocation, command: string): WhichSetAside {
  const [name, seq] = words;
  if (flags.has("all")) {
    if (name === undefined) return "all";
    throw malformed(`\`${command}\` takes --all or one record, not both.`);
  }
  if (name === undefined || seq === undefined)
    throw malformed(`\`${command}\` needs --all, or an export and a number from \`countersign siem list\`.`);
  if (/^\d{1,15}$/.test(seq)) return { name, seq: Number(seq) };
  throw malformed(`"${seq}" is not a record's number. \`countersign siem list\` prints the numbers.`);
}

function printAll(output: Output, all: readonly (AllSetAside & { readonly name: string })[]): void {
  if (all.length === 0) return output.line("No export has set a record aside.");
  for (const { name, count, newest } of all) {
    for (const { seq, at, reason, again } of newest) {
      const state = again === true ? "to be sent again" : "set aside";
      output.line(`${output.style("yellow", `${inert(name)} ${seq}`)}  ${state} ${absoluteTime(at)}`);
      output.quote(reason, "    ");
    }
    const older = count - newest.length;
    if (older > 0)
      output.prose(
        `${inert(name)}: ${older} older ones, whose numbers are no longer known. Export all again under another name.`,
      );
  }
  output.line();
  output.prose(
    "`countersign siem retry <export> <record>` sends one again, `siem drop` forgets one; --all takes all.",
  );
}

function malformed(message: string): CountersignError {
  return new CountersignError("malformed-request", message);
}
