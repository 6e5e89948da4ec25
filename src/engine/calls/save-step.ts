import { Draft, type StepRecord, type StepStatus, transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { Claimed } from "./claim.ts";

/** A step of a tool, at its start or end; questions are stored with the confirmation. */
export type WorkStep = StepRecord & { readonly status: "started" | "done" | "failed" };

/**
 * Writes a step of a call that this attempt holds; false if it no longer does. The start of a step is on
 * disk before its work begins: that is what makes it run at most once.
 */
export async function saveStep(
  parts: EngineParts,
  claimed: Claimed,
  change: { readonly step: WorkStep; readonly from?: StepStatus },
): Promise<boolean> {
  const { id, attempt } = claimed.call;
  return transact(parts, { call: id }, async (snapshot, last) => {
    const { call } = snapshot ?? {};
    const ours = call?.attempt === attempt && call.owner === claimed.owner;
    if (snapshot === undefined || call?.status !== "executing" || !ours) return { value: false };
    // Only this process writes this call's steps, so an earlier try stored it and its answer was lost.
    if (last === "row" && (await isStored(parts, change.step))) return { value: true };
    const draft = new Draft(parts, snapshot.now, snapshot.session);
    draft.write({ kind: "step", ...change });
    if (change.step.status === "started") draft.sync();
    draft.journal(`step-${change.step.status}`, {
      call: id,
      tool: call.tool,
      attempt,
      step: change.step.name,
    });
    return { draft, value: true };
  });
}

async function isStored({ ledger }: EngineParts, step: WorkStep): Promise<boolean> {
  const { call, kind, name, occurrence, status } = step;
  const steps = await ledger.steps(call);
  return steps.some(
    (each) =>
      each.kind === kind && each.name === name && each.occurrence === occurrence && each.status === status,
  );
}
