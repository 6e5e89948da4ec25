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
  /** The MCP server's annotations of its tool. */
  readonly annotations?: JsonObject;
  /** MCP server or remote agent. */
  readonly source?: string;
  /** For whom the call is made. */
  readonly user: string;
  /** Everyone who counts as the requester. */
  readonly requesters: readonly string[];
  /** The session's id; of a gated function, the key of the call. */
  readonly session: string;
  /** The session's state as stored. */
  readonly state: JsonObject;
  /** Now, in milliseconds since 1970. */
  readonly at: number;
}

/** A rule's verdict on a call. */
export interface PolicyVerdict {
  readonly outcome: "allow" | "confirm" | "deny";
  readonly reason: string;
  readonly approvers?: Approvers;
}

/**
 * Rules over all calls, from every entry point. They run before the gate, again on amended arguments and, for `deny`,
 * when an approved call is about to start; so they must be synchronous and use only what they are given. A rule that
 * throws, or returns an invalid verdict, means `confirm`; at the start of an approved call it means `deny`. Impossible
 * `approvers` (misspelt, or an empty list) mean `deny`, with the problem as the reason.
 */
export type Policy = (call: PolicyCall) => PolicyVerdict | undefined;

const OUTCOMES: ReadonlySet<unknown> = new Set<PolicyVerdict["outcome"]>(["allow", "confirm", "deny"]);

/**
 * The verdict of the rules for a call, if any. A rule that throws, or returns an invalid verdict (a promise, a misspelt
 * outcome), counts as `otherwise`.
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

// Other approvers would be people whom the rule did not name, and without approvers the card would wait forever.
function flawOf(approvers: Approvers | undefined, rule: string): string | undefined {
  try {
    checkAsking(`The policy rule "${rule}"`, approvers === undefined ? {} : { approvers });
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
