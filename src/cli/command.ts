import { CountersignError } from "../protocol/index.ts";
import type { Output } from "./output.ts";

/** A flag as `--help` tells of it. */
export interface Flag {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** What stands for the value in the usage, as in `--db URL`. */
  readonly value?: string;
  readonly help: string;
}

export type Flags = { readonly [name: string]: Flag };

/** Everything that a command is given. */
export interface Invocation {
  /** What stood beside the flags, as many as the command takes. */
  readonly words: readonly string[];
  readonly flags: GivenFlags;
  readonly output: Output;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
  /** Ends the process at once, whatever runs: for somebody who asked twice. */
  readonly exitNow: (code: number) => never;
}

/** One command: how it is called, what it says of itself, and what it does. */
export interface Command {
  /** One word, or two for a member of a group: `audit verify`. */
  readonly name: string;
  readonly summary: string;
  /** What stands after the name in the usage line. */
  readonly usage: string;
  readonly about?: string;
  /** `many`: the last may stand any number of times. */
  readonly words?: { readonly names: readonly string[]; readonly optional?: true; readonly many?: true };
  readonly flags: Flags;
  readonly examples: readonly { readonly line: string; readonly says: string }[];
  /** Resolves to the exit code; refusals are thrown as `CountersignError`. */
  run(invocation: Invocation): Promise<number>;
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

/** The values of the flags that stood on the command line. */
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

  /** Throws `invalid-option` where the value is no number of at least `least`. */
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
