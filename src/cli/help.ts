import { COMMON_FLAGS, type CommandEntry, type Flags, type NamedCommand } from "./command.ts";
import { padTo, textWidth, wrapTo } from "./display/text-width.ts";
import type { Output } from "./output.ts";

/** `countersign help`: the list of commands. */
export function printOverview(output: Output, commands: readonly CommandEntry[]): void {
  output.line("countersign: risky calls wait for a person; an approved one runs at most once.");
  output.line();
  output.line(output.style("bold", "Usage"));
  output.line("  countersign <command> [flags]");
  output.line();
  output.line(output.style("bold", "Commands"));
  printPairs(output, [
    ...commands.map(({ name, summary }) => [name, summary] as const),
    ["help [command]", "this list, or help for one command"],
  ]);
  output.line();
  output.line(output.style("bold", "Environment"));
  printPairs(output, [
    ["COUNTERSIGN_DB", "the ledger, if --db is not given"],
    ["COUNTERSIGN_SECRET", "signs decisions and the journal; must be the same in every process"],
    [
      "COUNTERSIGN_LISTEN_URL",
      "the PostgreSQL ledger without the pooler, so that `serve` is notified of changes at once",
    ],
    ["COUNTERSIGN_READ_URL", "standbys of the PostgreSQL ledger, from which `serve` may read lists"],
    ["COUNTERSIGN_HOST, _PORT, …", "every flag of `serve` can be set like this"],
    ["NO_COLOR", "turns colours off"],
  ]);
}

/** `countersign help audit`: the members of a group. */
export function printGroup(output: Output, group: string, members: readonly CommandEntry[]): void {
  output.line(`${output.style("bold", "Usage")}  countersign ${group} <command> [flags]`);
  output.line();
  printPairs(
    output,
    members.map(({ name, summary }) => [name, summary] as const),
  );
}

/** What one command does, with its flags and examples. */
export function printCommand(output: Output, command: NamedCommand): void {
  const { name, usage, summary, about, flags, examples } = command;
  output.prose(`countersign ${name}: ${summary}`);
  output.line();
  output.line(output.style("bold", "Usage"));
  output.prose(`countersign ${name} ${usage}`.trimEnd(), "  ");
  if (about !== undefined) {
    output.line();
    output.prose(about);
  }
  output.line();
  output.line(output.style("bold", "Flags"));
  printPairs(output, flagPairs({ ...flags, ...COMMON_FLAGS }));
  output.line();
  output.line(output.style("bold", "Examples"));
  for (const { line, says } of examples) {
    output.line(`  countersign ${line}`);
    output.prose(says, "      ");
  }
}

function flagPairs(flags: Flags): readonly (readonly [string, string])[] {
  return Object.entries(flags).map(([name, { short, value, help }]) => {
    const long = value === undefined ? `--${name}` : `--${name} ${value}`;
    return [short === undefined ? long : `-${short}, ${long}`, help] as const;
  });
}

function printPairs(output: Output, pairs: readonly (readonly [string, string])[]): void {
  const left = Math.max(...pairs.map(([name]) => textWidth(name)));
  for (const [name, text] of pairs) {
    const [first = "", ...rest] = wrapTo(text, output.width - left - 4);
    output.line(`  ${padTo(name, left)}  ${first}`);
    for (const line of rest) output.line(`  ${" ".repeat(left)}  ${line}`);
  }
}
