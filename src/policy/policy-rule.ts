import type { Approvers, GrantLimits } from "../engine/index.ts";
import type { Expression } from "./conditions/expression.ts";

/** People who are named by a rule: a group of the file, a role, a user, or the requester. */
export interface NamedPeople {
  readonly from: Approvers;
  /** Set if it is a group of the file. */
  readonly group?: string;
}

/** Which calls a rule is about. What is not given matches every call. */
export interface RuleMatch {
  readonly tool?: readonly string[];
  readonly app?: readonly string[];
  readonly agent?: readonly string[];
  readonly user?: readonly string[];
  readonly mcpServer?: readonly string[];
  readonly annotations?: { readonly [name: string]: boolean };
}

/** What a rule of `confirm` asks for. */
export interface RuleAsking {
  readonly require: readonly (NamedPeople & { readonly count: number })[];
  readonly notRequester?: boolean;
  readonly denials?: number;
  readonly expiresInMs?: number;
  readonly remindAfterMs?: readonly number[];
  readonly escalate?: readonly (NamedPeople & { readonly afterMs: number })[];
  readonly amendable?: readonly string[];
  readonly hint?: string;
  readonly grants?: GrantLimits;
  /** The condition in `grants`: for other calls, nothing is granted. */
  readonly grantsIf?: Expression;
  readonly byMail?: boolean;
  /** The channels that get the question. Absent: all. */
  readonly notify?: readonly string[];
}

/** One rule of a policy file. */
export interface PolicyRule {
  readonly id: string;
  readonly reason?: string;
  readonly match: RuleMatch;
  readonly when?: Expression;
  readonly unless?: Expression;
  readonly outcome: "allow" | "confirm" | "deny";
  /** Only notes what it would have done. */
  readonly observe: boolean;
  readonly asking: RuleAsking;
}
