import type { Approvers } from "./principal.ts";

/** People of whom `count` different persons must approve. */
export interface Requirement {
  readonly from: Approvers;
  /** 1 or more. */
  readonly count: number;
  /** The policy's name of the group, if it is one. */
  readonly group?: string;
}

/** One approval by one of these people. */
export function oneApproval(from: Approvers): readonly Requirement[] {
  return [{ from, count: 1 }];
}
