import type { JsonObject } from "../../protocol/index.ts";
import { errorText } from "../common/index.ts";
import type { Approvers } from "../people/index.ts";
import { checkAsking } from "./asking-options.ts";

/** How a call came here: from a Runner's agent, a gated function, an MCP gateway's client, or a remote agent. */
export type EntryPoint = "runner" | "gate" | "mcp" | "remote";

/** A call as a rule sees it: described the same way at every entry point. */
export interface PolicyCall {
  readonly entryPoint: EntryPoint;
  readonly app: string;
  readonly agent: string;
  readonly tool: string;
  /** After hooks and parsing: what would run. */
  readonly args: JsonObject;
  /** What an MCP server says of its tool. */
  readonly annotations?: JsonObject;
  /** MCP server or remote agent. */
  readonly source?: string;
  /** For whom the call is made. */
  readonly user: string;
  /** Everyone who counts as having asked. */
  readonly requesters: readonly string[];
  /** The session's id; of a gated function, the key of the call. */
  readonly session: string;
  /** The session's state as stored. */
  readonly state: JsonObject;
  /** Now, in milliseconds since 1970. */
  readonly at: number;
}

/** What a rule says of a call. */
export interface PolicyVerdict {
  readonly outcome: "allow" | "confirm" | "deny";
  readonly reason: string;
  readonly approvers?: Approvers;
}

/**
 * Rules over all calls, from every entry point. They run before the gate, again on amended arguments and, for `deny`, when
 * an approved call is about to start; so they must answer at once and from what they are given. One that throws, or
 * gives what is no verdict, means `confirm`, and at the start of an approved call, `deny`. One that asks people whom
 * nobody can be (misspelt `approvers`, an empty list) means `deny`, with what is wrong with them as the reason.
 */
export type Policy = (call: PolicyCall) => PolicyVerdict | undefined;

const OUTCOMES: ReadonlySet<unknown> = new Set<PolicyVerdict["outcome"]>(["allow", "confirm", "deny"]);

/**
 * What the rules say of a call, if they say anything. A rule that throws, or answers with what is no verdict (a
 * promise, a misspelt outcome), has permitted nothing: `otherwise` it is.
 */
export function verdictOf(
  policy: Policy | undefined,
  call: PolicyCall,
  otherwise: "confirm" | "deny",
): PolicyVerdict | undefined {
  try {
    const verdict = policy?.(call);
    if (verdict === undefined) return undefined;
    const { outcome, reason, approvers } = verdict;
    if (OUTCOMES.has(outcome)) {
      const why = typeof reason === "string" ? reason : "a policy rule";
      const flaw = outcome === "confirm" && otherwise === "confirm" ? flawOf(approvers, why) : undefined;
      if (flaw !== undefined) return { outcome: "deny", reason: flaw };
      return { outcome, reason: why, ...(approvers === undefined ? {} : { approvers }) };
    }
    return { outcome: otherwise, reason: "a policy rule gave no verdict" };
  } catch {
    return { outcome: otherwise, reason: "a policy rule failed" };
  }
}

// Anybody else in their place would be somebody whom the rule did not name, and with nobody the card would wait for good.
function flawOf(approvers: Approvers | undefined, rule: string): string | undefined {
  try {
    checkAsking(`The policy rule "${rule}"`, approvers === undefined ? {} : { approvers });
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
