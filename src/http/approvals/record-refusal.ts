import type { DecisionTarget, Principal, Tried } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { Site } from "../site.ts";

/** The `via` of decisions that come through this API. */
export const VIA = "api";

/** What somebody tries to do, and to what. */
export interface Attempt {
  readonly principal: Principal;
  readonly what: Tried["what"];
  readonly target: DecisionTarget;
}

/** Runs a permission check. If it refuses, the attempt is journalled before the refusal is thrown. */
export async function recordRefusal<T>(
  site: Site,
  attempt: Attempt,
  permit: () => T | Promise<T>,
): Promise<T> {
  try {
    return await permit();
  } catch (error) {
    if (CountersignError.isInstance(error)) {
      const code = error.code === "forbidden" ? "forbidden" : "not-an-approver";
      const { principal: by, what, target } = attempt;
      await (await site.engine()).decisions.noteRefusal(target, { code, what }, { by, via: VIA });
    }
    throw error;
  }
}
