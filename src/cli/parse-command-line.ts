import { parseArgs } from "node:util";
import { CountersignError } from "../protocol/index.ts";
import { COMMON_FLAGS, type Flag, type Flags, GivenFlags, type NamedCommand } from "./command.ts";
import { nearest } from "./suggest.ts";

/** The parsed command line after the command's name. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly flags: GivenFlags;
}

/**
 * Reads the arguments of one command. Throws `malformed-request` for a flag that it does not have, with the one that
 * was probably meant, for a missing value, and for too many arguments. With `--help` nothing is required.
 */
export function parseCommandLine(command: NamedCommand, args: readonly string[]): CommandLine {
  const known: Flags = { ...command.flags, ...COMMON_FLAGS };
  const options = Object.fromEntries(
    Object.entries(known).map(([name, { type, short }]) => [
      name,
      short === undefined ? { type } : { type, short },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string | true>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const flag = known[token.name];
    if (flag === undefined) throw unknownFlag(command, token.rawName, Object.keys(known));
    values.set(token.name, valueOf(flag, token));
  }
  if (!values.has("help")) checkWords(command, words);
  return { words, flags: new GivenFlags(values) };
}

function valueOf(
  flag: Flag,
  token: {
    readonly rawName: string;
    readonly value?: string | undefined;
    readonly inlineValue?: boolean | undefined;
  },
): string | true {
  const { rawName, value, inlineValue } = token;
  if (flag.type === "boolean") {
    if (value === undefined) return true;
    throw malformed(`${rawName} takes no value.`);
  }
  if (value === undefined) throw malformed(`${rawName} needs a value: ${rawName} ${flag.value ?? "VALUE"}.`);
  if (value.startsWith("-") && inlineValue !== true) {
    throw malformed(
      `${rawName} needs a value, but "${value}" looks like a flag. If it is the value, write ${rawName}=${value}.`,
    );
  }
  return value;
}

function unknownFlag(command: NamedCommand, given: string, known: readonly string[]): CountersignError {
  const meant = nearest(given.replace(/^-+/, ""), known);
  const advice =
    meant === undefined
      ? `\`countersign ${command.name} --help\` lists its flags.`
      : `Did you mean --${meant}?`;
  return malformed(`\`${command.name}\` has no flag ${given}. ${advice}`);
}

function checkWords(command: NamedCommand, words: readonly string[]): void {
  const { names = [], optional, many } = command.words ?? {};
  const usage = `countersign ${command.name} ${command.usage}`.trimEnd();
  const missing = optional === true ? undefined : names[words.length];
  if (missing !== undefined) throw malformed(`\`${command.name}\` needs ${missing}: ${usage}`);
  const extra = many === true ? undefined : words[names.length];
  if (extra !== undefined) throw malformed(`\`${command.name}\` does not take "${extra}": ${usage}`);
}

function malformed(message: string): CountersignError {
  return new CountersignError("malformed-request", message);
}
