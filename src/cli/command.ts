import { CountersignError } from "../protocol/index.ts";
import type { Output } from "./output.ts";

/** A flag as `--help` shows it. */
export interface Flag {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** The name of the value in the usage line, as in `--db URL`. */
  readonly value?: string;
  readonly help: string;
}

export type Flags = { readonly [name: string]: Flag };

/** Everything that a command gets. */
export interface Invocation {
  /** The positional arguments. */
  readonly words: readonly string[];
  readonly flags: GivenFlags;
  readonly output: Output;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
  /** Ends the process at once, whatever runs: for a second Ctrl-C. */
  readonly exitNow: (code: number) => never;
}

/** What is known of a command before its file is loaded. */
export interface CommandEntry {
  /** One word, or two for a member of a group: `audit verify`. */
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** One command: its help, and what it does. */
export interface Command {
  /** The positional arguments in the usage line. */
  readonly usage: string;
  readonly about?: string;
  /** `many`: the last one may be repeated. */
  readonly words?: { readonly names: readonly string[]; readonly optional?: true; readonly many?: true };
  readonly flags: Flags;
  readonly examples: readonly { readonly line: string; readonly says: string }[];
  /** Resolves to the exit code; refusals are thrown as `CountersignError`. */
  run(invocation: Invocation): Promise<number>;
}

/** A command that is loaded. */
export type NamedCommand = Command & Pick<CommandEntry, "name" | "summary">;

export async function loadCommand({ name, summary, load }: CommandEntry): Promise<NamedCommand> {
  return { name, summary, ...(await load()) };
}

/** Flags that every command has. */
export const COMMON_FLAGS: Flags = {
  json: { type: "boolean", help: "print JSON" },
  help: { type: "boolean", short: "h", help: "print this help" },
};

/** For commands that open a ledger. */
export const LEDGER_FLAG: Flags = {
  db: {
    type: "string",
    value: "URL",
    help:
      "the ledger, for example sqlite:path/to/file.db or postgres://user@host,host/database " +
      "(COUNTERSIGN_DB, or sqlite:countersign.db)",
  },
};

/** The values of the given flags. */
export class GivenFlags {
  readonly #values: ReadonlyMap<string, string | true>;

  constructor(values: ReadonlyMap<string, string | true>) {
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name);
    return value === true ? undefined : value;
  }

  /** Throws `invalid-option` if the value is not a number of at least `least`. */
  number(name: string, least: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && Number.isSafeInteger(Math.ceil(value))) return value;
    throw new CountersignError(
      "invalid-option",
      `Invalid --${name} "${text}". Use a number of at least ${least}.`,
      {
        details: { field: name },
      },
    );
  }
}
