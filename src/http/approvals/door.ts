import type { DecisionTarget, Principal, Tried } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { Site } from "../site.ts";

/** The name of this door in the records of what was decided through it. */
export const VIA = "api";

/** What somebody is about to do, and to what. */
export interface Attempt {
  readonly principal: Principal;
  readonly what: Tried["what"];
  readonly target: DecisionTarget;
}

/** Asks whether somebody may go on. Where they may not, that they tried is put on record before they are told. */
export async function onRecord<T>(site: Site, attempt: Attempt, permit: () => T | Promise<T>): Promise<T> {
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
