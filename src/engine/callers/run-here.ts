import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { type CallContext, planClaim, type Taken, untilEnded, type WaitOptions } from "../calls/index.ts";
import { copyJson } from "../common/index.ts";
import { rulesAt, toLiveTool } from "../gate/index.ts";
import type { LiveTool } from "../host.ts";
import { transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { proposedTool } from "./caller-tool.ts";
import type { Proposal } from "./proposal.ts";

/** The caller's own function. It gets the arguments that were approved, which an approver may have changed. */
export type CallerBody = (args: JsonObject, context: CallContext) => Promise<JsonValue | undefined>;

/** How often a call is claimed again that this process could not start in time. */
const MOST_CLAIMS = 3;

/**
 * Runs the caller's call in this process and in the caller's own context, if it may start now; waits if it runs
 * elsewhere. It is claimed under the lease of this process: if the process dies, the call becomes `unknown`. If the tool
 * is not what was shown, it does not run, and people are asked again.
 */
export async function runHere(
  parts: EngineParts,
  callId: string,
  {
    proposal,
    body,
    wait,
  }: { readonly proposal: Proposal; readonly body: CallerBody; readonly wait: WaitOptions },
): Promise<void> {
  const tool = toLiveTool(
    { rules: rulesAt(parts, "api"), tool: proposedTool(proposal) },
    { run: (call, context) => body(copyJson(call.args), context) },
  );
  for (let claims = 1; ; claims += 1) {
    const { claimed, call } = await claimHere(parts, callId, tool);
    if (claimed !== undefined) parts.executions.start(claimed);
    else if (call?.status === "executing") await untilEnded(parts, callId, wait);
    await parts.executions.settled(callId);
    const [left] = await parts.ledger.calls([callId]);
    if (claimed === undefined || left?.status !== "ready" || claims === MOST_CLAIMS) return;
  }
}

async function claimHere(parts: EngineParts, callId: string, tool: LiveTool): Promise<Taken> {
  return transact<Taken>(parts, { call: callId }, async (snapshot, last) => {
    const { call } = snapshot ?? {};
    if (snapshot === undefined || call?.runs !== "caller") return { value: {} };
    if (call.status !== "ready") return { value: { call } };
    const caller = await parts.lease.hold();
    return planClaim(parts, { ...snapshot, call }, { stored: call, caller, tool, last });
  });
}
