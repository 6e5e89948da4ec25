import { readFileSync } from "node:fs";
import type { Ledger } from "../../engine/index.ts";
import { LivePolicy, type PolicySurroundings, parsePolicy } from "../../policy/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { Flags, Invocation } from "../command.ts";
import { PolicyProblems } from "./policy-problems.ts";

const LOOK_MS = 1_000;

/** For commands that run calls. */
export const POLICY_FLAG: Flags = {
  policy: {
    type: "string",
    value: "FILE",
    help: "the policy file: rules for every call (COUNTERSIGN_POLICY); reloaded when it changes",
  },
};

/** The file that the flag or the environment names. */
export function policyFile({ flags, env }: Pick<Invocation, "flags" | "env">): string | undefined {
  return flags.text("policy") ?? (env["COUNTERSIGN_POLICY"] || undefined);
}

/** Told what happens to the file. */
export interface PolicyListener {
  replaced(file: string, version: string): void;
  /** The file cannot be used now; the previous policy stays in force. */
  broken(file: string, message: string): void;
}

/** A policy that follows its file. */
export interface FollowedPolicy {
  readonly policy: LivePolicy;
  /** Starts to look at the file. Problems are stored in the ledger for `doctor`. */
  follow(ledger: Ledger, listener: PolicyListener): void;
  stop(): void;
}

/**
 * Reads the policy. Throws `invalid-option` if it cannot be used: nothing starts without its rules. If it is known which
 * channels there are, rules may name no others.
 */
export function openPolicy(file: string, around: PolicySurroundings = {}): FollowedPolicy {
  const first = textOf(file);
  const policy = new LivePolicy(parsePolicy(file, first, around));
  let timer: NodeJS.Timeout | undefined;
  return {
    policy,
    follow(ledger, listener) {
      const follower = new Follower(
        { file, policy, listener, around, problems: new PolicyProblems(ledger, file) },
        first,
      );
      follower.begin();
      timer = setInterval(() => follower.look(), LOOK_MS).unref();
    },
    stop: () => clearInterval(timer),
  };
}

interface Following {
  readonly file: string;
  readonly policy: LivePolicy;
  readonly listener: PolicyListener;
  readonly around: PolicySurroundings;
  readonly problems: PolicyProblems;
}

/**
 * Looks at the file again and again, also through links. A new text is used once it was the same twice: a file that is
 * being written can be a valid policy with fewer rules.
 */
class Follower {
  readonly #following: Following;
  #used: string;
  #seen: string | undefined;

  constructor(following: Following, used: string) {
    this.#following = following;
    this.#used = used;
  }

  /** This process has just read the file, and found it good. */
  begin(): void {
    this.#following.problems.clear();
  }

  look(): void {
    const { file } = this.#following;
    let text: string;
    try {
      text = textOf(file);
    } catch (error) {
      text = `\0${messageOf(error)}`;
    }
    const again = text === this.#seen;
    this.#seen = text;
    if (!again || text === this.#used) return;
    this.#used = text;
    this.#use(text);
  }

  #use(text: string): void {
    const { file, policy, listener, around, problems } = this.#following;
    try {
      if (text.startsWith("\0")) throw new CountersignError("invalid-option", text.slice(1));
      const next = parsePolicy(file, text, around);
      policy.replace(next);
      listener.replaced(file, next.version);
      problems.clear();
    } catch (error) {
      listener.broken(file, messageOf(error));
      problems.store(messageOf(error), policy.version);
    }
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CountersignError("invalid-option", `Cannot read the policy "${file}": ${messageOf(error)}.`, {
      details: { field: "policy" },
      cause: error,
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
