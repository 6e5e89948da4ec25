import { useGrant } from "../grants/index.ts";
import { type Draft, type FrameRecord, isShared } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { PlannedCall } from "./turns.ts";

/** The calls of a turn: those that would be asked about and that a grant covers run instead, in this commit. */
export async function applyGrants(
  parts: EngineParts,
  draft: Draft,
  { frame, calls }: { readonly frame: FrameRecord; readonly calls: readonly PlannedCall[] },
): Promise<readonly PlannedCall[]> {
  if (draft.grants.length === 0 && !calls.some(mayUseShared)) return calls;
  const applied: PlannedCall[] = [];
  // One after the other: each use counts for the next one.
  for (const planned of calls) applied.push(await applyGrant(parts, draft, { frame, planned }));
  return applied;
}

function mayUseShared({ plan }: PlannedCall): boolean {
  return plan.kind === "ask" && isShared(plan.question.grants);
}

async function applyGrant(
  parts: EngineParts,
  draft: Draft,
  { frame, planned }: { readonly frame: FrameRecord; readonly planned: PlannedCall },
): Promise<PlannedCall> {
  const { plan, wireId, tool, args, unparsed = false, secrets = [], definitionDigest } = planned;
  if (plan.kind !== "ask" || plan.tool === undefined) return planned;
  const { session, app, agent } = frame;
  const call = {
    id: `${session}.${wireId}`,
    session,
    app,
    agent,
    tool,
    args,
    unparsed,
    secrets,
    definitionDigest,
  };
  const grant = await useGrant(parts, draft, { call, question: plan.question });
  if (grant === undefined) return planned;
  const { policy } = plan.question;
  return {
    ...planned,
    plan: { kind: "run", tool: plan.tool, grant, ...(policy === undefined ? {} : { policy }) },
  };
}
