import { type CallRecord, Draft, type StepRecord, type StepStatus, transact } from "../ledger/index.ts";
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
    writeStep(draft, call, change);
    if (change.step.status === "started") draft.sync();
    return { draft, value: true };
  });
}

/**
 * Writes those of the ended steps again that the ledger does not have as they ended: it has lost acknowledged commits.
 * The next run of the function would take them again.
 */
export async function writeLostSteps(
  { ledger }: EngineParts,
  draft: Draft,
  { call, ended }: { readonly call: CallRecord; readonly ended: readonly WorkStep[] },
): Promise<void> {
  if (ended.length === 0) return;
  const stored = new Map((await ledger.steps(call.id)).map((step) => [keyOf(step), step.status]));
  for (const step of ended) {
    const from = stored.get(keyOf(step));
    if (from !== step.status) writeStep(draft, call, { step, ...(from === undefined ? {} : { from }) });
  }
}

function writeStep(
  draft: Draft,
  { id, tool, attempt }: CallRecord,
  change: { readonly step: WorkStep; readonly from?: StepStatus },
): void {
  draft.write({ kind: "step", ...change });
  draft.journal(`step-${change.step.status}`, { call: id, tool, attempt, step: change.step.name });
}

async function isStored({ ledger }: EngineParts, step: WorkStep): Promise<boolean> {
  const steps = await ledger.steps(step.call);
  return steps.some((each) => keyOf(each) === keyOf(step) && each.status === step.status);
}

/** What a step is found by in its call. */
export function keyOf(step: Pick<StepRecord, "kind" | "name" | "occurrence">): string {
  return JSON.stringify([step.kind, step.name, step.occurrence]);
}
