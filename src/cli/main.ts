import { CountersignError, ERROR_CODES } from "../protocol/index.ts";
import { type CommandEntry, loadCommand } from "./command.ts";
import { COMMANDS } from "./commands/index.ts";
import { EXIT, EXIT_CODES } from "./exit-codes.ts";
import { printCommand, printGroup, printOverview } from "./help.ts";
import { inert, Output } from "./output.ts";
import { parseCommandLine } from "./parse-command-line.ts";
import { nearest } from "./suggest.ts";
import { version } from "./version.ts";

const HELP_WORDS: ReadonlySet<string> = new Set(["help", "--help", "-h"]);
const VERSION_WORDS: ReadonlySet<string> = new Set(["--version", "-v"]);

/** Runs the command line and resolves to its exit code. Whatever goes wrong is one line on standard error. */
export async function main(argv: readonly string[]): Promise<number> {
  // `countersign pending | head` closes our output early; that is not an error.
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) =>
    process.exit(code === "EPIPE" ? EXIT.ok : EXIT.unavailable),
  );
  const output = new Output(process.stdout, process.env);
  try {
    return await dispatch(argv, output);
  } catch (error) {
    return complain(error, argv.includes("--json"));
  }
}

async function dispatch(argv: readonly string[], output: Output): Promise<number> {
  const [first = "help", second] = argv;
  if (VERSION_WORDS.has(first)) {
    output.line(version());
    return EXIT.ok;
  }
  if (HELP_WORDS.has(first)) return help(argv.slice(1), output);
  const entry = entryOf(first, second);
  if (entry === undefined) return showGroup(first, second, output);
  const command = await loadCommand(entry);
  const { words, flags } = parseCommandLine(command, argv.slice(command.name.split(" ").length));
  if (flags.has("help")) {
    printCommand(output, command);
    return EXIT.ok;
  }
  return command.run({ words, flags, output, env: process.env, stdin: process.stdin, exitNow });
}

function exitNow(code: number): never {
  process.exit(code);
}

/** `countersign audit` alone is not a command; its members are. */
function showGroup(first: string, second: string | undefined, output: Output): number {
  const members = membersOf(first);
  if (members.length === 0) throw unknownCommand([first]);
  if (second !== undefined && !HELP_WORDS.has(second)) throw unknownCommand([first, second]);
  printGroup(output, first, members);
  return second === undefined ? EXIT.usage : EXIT.ok;
}

async function help(words: readonly string[], output: Output): Promise<number> {
  const [first, second] = words.filter((word) => !word.startsWith("-"));
  if (first === undefined) {
    printOverview(output, COMMANDS);
    return EXIT.ok;
  }
  const entry = entryOf(first, second);
  const members = membersOf(first);
  if (entry !== undefined) printCommand(output, await loadCommand(entry));
  else if (members.length > 0 && second === undefined) printGroup(output, first, members);
  else throw unknownCommand(second === undefined ? [first] : [first, second]);
  return EXIT.ok;
}

function entryOf(first: string, second: string | undefined): CommandEntry | undefined {
  const both = `${first} ${second}`;
  return COMMANDS.find(({ name }) => name === both) ?? COMMANDS.find(({ name }) => name === first);
}

function membersOf(group: string): readonly CommandEntry[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${group} `));
}

function unknownCommand(words: readonly string[]): CountersignError {
  const given = words.join(" ");
  const names = COMMANDS.flatMap(({ name }) => [name, ...name.split(" ").slice(0, 1)]);
  const meant = nearest(given, [...names, "help"]);
  const advice =
    meant === undefined ? "`countersign help` lists all commands." : `Did you mean \`countersign ${meant}\`?`;
  return new CountersignError("malformed-request", `There is no command \`${given}\`. ${advice}`);
}

function complain(error: unknown, asJson: boolean): number {
  const output = new Output(process.stderr, process.env);
  const ours = CountersignError.isInstance(error) && Object.hasOwn(ERROR_CODES, error.code);
  const code = ours ? error.code : "internal";
  const message = error instanceof Error ? error.message : String(error);
  const field = ours ? error.details["field"] : undefined;
  if (asJson) output.jsonLine({ error: { code, message, ...(field === undefined ? {} : { field }) } });
  else output.line(`${output.style("red", "countersign:")} ${inert(message)} [${code}]`);
  return EXIT_CODES[code];
}
