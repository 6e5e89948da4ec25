import { randomUUID } from "node:crypto";
import { type CallerOutcome, type ClaimedCall, CountersignProblem } from "../../client/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { shortDuration } from "../duration.ts";
import { persist } from "../remote/persist.ts";
import type { RemoteGate } from "../remote/remote-gate.ts";
import { waitForDecision } from "../remote/wait-for-decision.ts";
import { boundTo, inputOf } from "./folder.ts";

const TRIES = 4;
const LEASE_SECONDS = 5;
/** The clocks of two machines differ, and a request takes time. */
const DEADLINE_SPARE_MS = 10_000;

const HANDED_OVER: Approval = {
  kind: "refused",
  reason:
    "This tool use was approved before, and an approval is given only once. Ask again with a new tool use. If this happens each time, the hook is set up twice: remove one.",
};

/** One use of a tool that an agent asks about. */
export interface ToolUse {
  /** Names it: the same key again is the same question. */
  readonly key: string;
  readonly thread: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly cwd?: string;
}

/** Whether the agent may go on. */
export type Approval =
  | { readonly kind: "approved"; readonly input: JsonObject; readonly amended: boolean }
  /** The policy did not ask, and nobody was asked. */
  | { readonly kind: "unasked" }
  /** Nobody has decided yet, and the question stays open. */
  | { readonly kind: "open" }
  | { readonly kind: "refused"; readonly reason: string };

export interface ApprovalOptions {
  /** The agent's name in the inbox, as in `claude-code`. */
  readonly agent: string;
  /** The same for people, as in `Claude Code`. */
  readonly agentTitle: string;
  /** Ask a person even if the policy does not. */
  readonly alwaysAsk: boolean;
  readonly waitMs: number;
  /** Leave the question open when the wait is over, for a later process of the same tool use. Default: it expires. */
  readonly staysOpen?: boolean;
}

/**
 * Asks about one use of a tool, and waits. An approval is handed over once: it is claimed, and reported as handed over
 * before the agent is told. Everybody else with the same key gets a refusal, also if they waited at the same time: it may
 * be another tool use, because a model may use an id again.
 */
export async function seekApproval(
  gate: RemoteGate,
  use: ToolUse,
  options: ApprovalOptions,
): Promise<Approval> {
  const approval = await ask(gate, use, options);
  if (approval.kind === "approved") return { ...approval, input: inputOf(approval.input, use.cwd) };
  if (approval.kind !== "unasked" || !gate.trustsPolicy) return approval;
  return { kind: "approved", input: use.input, amended: false };
}

async function ask(gate: RemoteGate, use: ToolUse, options: ApprovalOptions): Promise<Approval> {
  const until = performance.now() + options.waitMs;
  const { calls } = gate.client;
  const proposal = proposalOf(gate, use, options);
  const first = await persist((signal) => calls.propose(proposal, { signal }), { tries: TRIES });
  for (let outcome = first; ; ) {
    outcome = await waitForDecision(calls, outcome, until);
    if (outcome.status !== "allowed") return toApproval(outcome, options);
    const claimed = await claim(gate, use.key);
    if (claimed !== undefined) return handOver(gate, claimed, { ...options, until });
    // Another process with the same key was first, or the policy denies it by now.
    outcome = await persist((signal) => calls.get(use.key, { signal }), { tries: TRIES });
    if (performance.now() > until) return toApproval(outcome, options);
  }
}

function proposalOf(
  { app, trustsPolicy }: RemoteGate,
  { key, thread, tool, input, cwd }: ToolUse,
  { agent, agentTitle, alwaysAsk, waitMs, staysOpen = false }: ApprovalOptions,
): Parameters<RemoteGate["client"]["calls"]["propose"]>[0] {
  const where = cwd === undefined ? "" : ` in ${cwd.slice(0, 1_000)}`;
  const requireConfirmation = alwaysAsk && !trustsPolicy;
  return {
    key,
    app,
    agent,
    thread,
    tool,
    ...boundTo(cwd, input),
    description: `A tool of ${agentTitle}, which runs it itself after an approval.`,
    hint: `Let ${agentTitle} use ${tool.slice(0, 200)}${where}?`,
    requireConfirmation,
    requirePolicy: !requireConfirmation,
    // Nobody should approve what no process waits for any more.
    ...(staysOpen ? {} : { deadline: new Date(Date.now() + waitMs + DEADLINE_SPARE_MS).toISOString() }),
    // Only the handing over is claimed, and it can be repeated until it is reported.
    idempotent: true,
  };
}

async function claim({ client }: RemoteGate, key: string): Promise<ClaimedCall | undefined> {
  const claiming = { nonce: randomUUID(), leaseSeconds: LEASE_SECONDS };
  try {
    return await persist((signal) => client.calls.claim(key, claiming, { signal }), { tries: TRIES });
  } catch (error) {
    if (error instanceof CountersignProblem && error.code === "not-claimable") return undefined;
    throw error;
  }
}

async function handOver(
  { client }: RemoteGate,
  { claim: { token, attempt, args }, ...outcome }: ClaimedCall,
  { agent, until, alwaysAsk }: ApprovalOptions & { readonly until: number },
): Promise<Approval> {
  const result = { handedTo: agent, note: "Countersign does not know whether the tool ran." };
  const report = { token, attempt, result };
  await persist((signal) => client.calls.succeed(outcome.key, report, { signal }), {
    tries: TRIES,
    waitsForResumption: () => performance.now() < until,
  });
  return granted({ ...outcome, args }, alwaysAsk);
}

function toApproval(outcome: CallerOutcome, { waitMs, staysOpen = false }: ApprovalOptions): Approval {
  const { status, message } = outcome;
  if (status === "pending" && staysOpen) return { kind: "open" };
  // Another process claimed it. If the policy did not ask, nothing is used up.
  if (status === "succeeded") return isSpent(outcome) ? HANDED_OVER : { kind: "unasked" };
  if (status === "pending" || status === "executing" || status === "allowed")
    return refused(`Nobody decided within ${shortDuration(waitMs)}. The tool must not run.`);
  return refused(message);
}

/** A question was answered for it, or a grant used. */
function isSpent({ confirmation, grant }: CallerOutcome): boolean {
  return confirmation !== undefined || grant !== undefined;
}

/** Under a grant nobody is asked, so the agent's own rules count; but who always asks a person has their approval. */
function granted({ confirmation, grant, args, amended }: CallerOutcome, alwaysAsk: boolean): Approval {
  return confirmation === undefined && !(alwaysAsk && grant !== undefined)
    ? { kind: "unasked" }
    : { kind: "approved", input: args, amended: amended === true };
}

function refused(reason: string): Approval {
  return { kind: "refused", reason };
}
