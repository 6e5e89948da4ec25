import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import {
  type CallContext,
  type Claimed,
  planClaim,
  type Taken,
  untilEnded,
  type WaitOptions,
} from "../calls/index.ts";
import { copyJson } from "../common/index.ts";
import { rulesAt, toLiveTool } from "../gate/index.ts";
import type { LiveTool } from "../host.ts";
import { type Snapshot, transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { StoredCallerCall } from "./caller-outcome.ts";
import type { ProposedCall } from "./propose.ts";
import { readCallerCall } from "./read.ts";

/** The caller's own function. It gets the arguments that were approved, which an approver may have changed. */
export type CallerBody = (args: JsonObject, context: CallContext) => Promise<JsonValue | undefined>;

/** How often a call is claimed again that this process could not start in time. */
const MOST_CLAIMS = 3;

/**
 * Runs the caller's call in this process and in the caller's own context, if it may start now; waits if it runs
 * elsewhere. It is claimed under the lease of this process: if the process dies, the call becomes `unknown`. If the tool
 * is not what was shown, it does not run, and people are asked again. Returns the call as it is then.
 */
export async function runHere(
  parts: EngineParts,
  proposed: ProposedCall,
  { body, wait }: { readonly body: CallerBody; readonly wait: WaitOptions },
): Promise<StoredCallerCall> {
  const { id } = proposed.call;
  const tool = toLiveTool(
    { rules: rulesAt(parts, "api"), tool: proposed.tool },
    { run: (call, context) => body(copyJson(call.args), context) },
  );
  let stored: StoredCallerCall = proposed;
  let { snapshot } = proposed;
  for (let claims = 1; stored.call.status === "ready" && claims <= MOST_CLAIMS; claims += 1) {
    const { claimed } = await claimHere(parts, id, { tool, snapshot });
    snapshot = undefined;
    stored = (claimed && (await ran(parts, claimed))) ?? (await readCallerCall(parts, id));
    if (claimed === undefined) break;
  }
  if (stored.call.status !== "executing") return stored;
  // Its process may be lost.
  if (!parts.executions.isAtWork(id)) await parts.recoverLost(id);
  await untilEnded(parts, id, wait);
  return readCallerCall(parts, id);
}

/** The call as its run left it, if this process has stored that. */
async function ran(parts: EngineParts, claimed: Claimed): Promise<StoredCallerCall | undefined> {
  const { call, asked } = await parts.executions.run(claimed);
  return (
    call && { call, session: claimed.session, confirmation: asked?.confirmation ?? claimed.confirmation }
  );
}

/** `snapshot`: what this command has read of the call. If anything has moved since, it is read again. */
async function claimHere(
  parts: EngineParts,
  callId: string,
  { tool, snapshot: read }: { readonly tool: LiveTool; readonly snapshot: Snapshot | undefined },
): Promise<Taken> {
  return transact<Taken>(
    parts,
    { call: callId },
    async (snapshot, last) => {
      const { call } = snapshot ?? {};
      if (snapshot === undefined || call?.runs !== "caller") return { value: {} };
      if (call.status !== "ready") return { value: { call } };
      const caller = await parts.lease.hold();
      return planClaim(parts, { ...snapshot, call }, { stored: call, caller, tool, last });
    },
    read && { snapshot: read },
  );
}
