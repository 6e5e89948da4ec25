import type { Approvers } from "../engine/index.ts";
import type { JsonObject } from "../protocol/index.ts";

/** A call as a rule sees it. */
export interface PolicyCall {
  readonly app: string;
  readonly agent: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly user: string;
}

/** What a rule says of a call. */
export interface PolicyVerdict {
  readonly outcome: "allow" | "confirm" | "deny";
  readonly reason: string;
  readonly approvers?: Approvers;
}

/**
 * Rules over all tools of an app. They run before the gate and, for `deny`, again when an approved call is
 * about to start; so they must answer at once and from what they are given. One that throws means `confirm`,
 * and at the start of an approved call, `deny`.
 */
export type Policy = (call: PolicyCall) => PolicyVerdict | undefined;
