import type { JsonObject } from "../../protocol/index.ts";
import type { GrantLimits } from "../ledger/index.ts";
import type { Approvers, Requirement } from "../people/index.ts";

/**
 * How a call came here: from a Runner's agent, a gated function, an MCP gateway's client, a remote agent, or a program
 * that asks over the API and runs it itself.
 */
export type EntryPoint = "runner" | "gate" | "mcp" | "remote" | "api";

/** A call as a rule sees it: described the same way at every entry point. */
export interface PolicyCall {
  readonly entryPoint: EntryPoint;
  readonly app: string;
  readonly agent: string;
  readonly tool: string;
  /** After hooks and parsing: what would run. */
  readonly args: JsonObject;
  /** The arguments without the tool's secrets: what people are shown, and what may be recorded. */
  readonly shown: JsonObject;
  /** The MCP server's annotations of its tool. */
  readonly annotations?: JsonObject;
  /** The name of the MCP server or remote agent. */
  readonly source?: string;
  /** For whom the call is made. */
  readonly user: string;
  /** Everyone who counts as the requester. */
  readonly requesters: readonly string[];
  /** The roles of the requester at that time. */
  readonly roles: readonly string[];
  /** Was the requester authenticated? */
  readonly authenticated: boolean;
  /** The session's id; of a gated function, the key of the call. */
  readonly session: string;
  /** The session's state as stored. */
  readonly state: JsonObject;
  /** Now by the ledger's clock, in milliseconds since 1970. */
  readonly at: number;
}

/** A rule's verdict on a call. */
export interface PolicyVerdict extends AskingTerms {
  readonly outcome: "allow" | "confirm" | "deny";
  readonly reason: string;
  /** The rule's id. */
  readonly rule?: string;
  /** Short for one requirement with count 1. */
  readonly approvers?: Approvers;
  readonly requirements?: readonly Requirement[];
  /** What the rule has seen, for the record. Without secrets. */
  readonly facts?: JsonObject;
  /** The rule is only recorded; it has no effect. */
  readonly observe?: boolean;
}

/** People who may fill in after a time. */
export interface RuleEscalation {
  readonly afterMs: number;
  readonly to: Approvers;
  /** The policy's name of the group, if it is one. */
  readonly group?: string;
}

/** How a rule of `confirm` wants people to be asked. */
export interface AskingTerms {
  /** Nobody who asked may approve, whichever requirement they would meet. */
  readonly notRequester?: boolean;
  /** How many denials are needed to deny. Default: 1. The smallest of all rules counts. */
  readonly denials?: number;
  /** The earliest of all rules and the tool's own counts. */
  readonly expiresInMs?: number;
  readonly remindAfterMs?: readonly number[];
  /** Who may fill in for those whom this rule requires; if it requires nobody, for the requester. */
  readonly escalate?: readonly RuleEscalation[];
  /** Narrows which arguments an approver may change; never widens it. */
  readonly amendable?: readonly string[];
  /** The question on the card. */
  readonly hint?: string;
  /** The most that an approval may grant for further calls. Absent: nothing. The tightest of all rules counts. */
  readonly grants?: GrantLimits;
  /** A link in a mail may decide without a login. Default: false. Everything that asks must allow it. */
  readonly byMail?: boolean;
  /** The channels that are told of the question. Absent: all. The channels of all rules that ask count. */
  readonly notify?: readonly string[];
}

/**
 * Rules over all calls, from every entry point. Every verdict counts: the strictest outcome, and all requirements.
 * They run before the gate, again on amended arguments and, for `deny`, when an approved call is about to start; so
 * they must be synchronous and use only what they are given. If they throw, or return an invalid verdict, that means
 * `confirm`; at the start of an approved call it means `deny`. Impossible terms (misspelt approvers, an empty list)
 * mean `deny`, with the problem as the reason.
 */
export type Policy = (call: PolicyCall) => PolicyVerdict | readonly PolicyVerdict[] | undefined;

/** A policy with an identity: a file, or rules in code. Its members may change when the file is reloaded. */
export interface PolicySource {
  readonly judge: Policy;
  /** Digest of the canonical text. */
  readonly version: string;
  /** Stored once in the ledger, under the version. */
  readonly text: string;
  /** The members of a group now; undefined if there is no such group: then nobody belongs to it. */
  readonly group: (name: string) => Approvers | undefined;
  /** The person behind a login. Several logins may be one person. Default: the id itself. */
  readonly person: (id: string) => string;
  /** All logins of the person behind a login, this one among them. Default: only this one. */
  readonly logins?: (id: string) => readonly string[];
  /**
   * Reads a condition of a grant: over `args` only, checked like the conditions of rules. Throws if it is none; what it
   * returns throws if it cannot be judged. Without this, no grant has conditions.
   */
  readonly condition?: (text: string) => (args: JsonObject) => boolean;
  /** False: no rule reads the session's state, so it is not loaded. Default: true. */
  readonly readsState?: boolean;
  /** Roles that a login claimed count for a vote this long. */
  readonly voteMaxAgeMs?: number;
}
