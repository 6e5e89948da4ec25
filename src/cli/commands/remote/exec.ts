import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type CallerOutcome, type ClaimedCall, CountersignProblem } from "../../../client/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import type { Command, Invocation } from "../../command.ts";
import { parseDuration } from "../../duration.ts";
import { runClaimed } from "../../exec/claimed-run.ts";
import { freshClaim } from "../../exec/fresh-claim.ts";
import { inert } from "../../output.ts";
import { persist, toldError } from "../../remote/persist.ts";
import { openRemoteGate, REMOTE_FLAGS, type RemoteGate } from "../../remote/remote-gate.ts";
import { waitForDecision } from "../../remote/wait-for-decision.ts";

/** As `env`, `timeout` and others: the command was not started. */
const NOT_RUN = 125;
const TRIES = 4;
const USUAL_APP = "terminal";
const USUAL_LEASE = "60s";
const LEAST_LEASE_SECONDS = 5;
const MOST_LEASE_SECONDS = 3_600;

export const exec: Command = {
  usage: "[--key KEY] [--wait TIME] [--url URL] [--trust-policy] -- COMMAND ARGS…",
  about:
    "Asks a running server, waits for the decision, and runs the command. The approver sees the exact arguments, the " +
    "folder and the host. The environment and standard input are inherited, and not shown. No shell interprets the " +
    "arguments. At most once: a call with this --key that has started is not started again, unless a person settles it so. " +
    "Its exit code and the last 3,000 bytes of its output are stored as the call's result. If this process is killed, the " +
    "call becomes unknown, and a person has to find out what happened. The exit code is the command's; 125 means that it was not run. " +
    "A question stays open if this process ends before the decision: run the same command with the same key again.",
  words: { names: ["COMMAND"], many: true },
  flags: {
    key: {
      type: "string",
      value: "KEY",
      help: "names the call; the same key is started at most once (a random one)",
    },
    wait: { type: "string", value: "TIME", help: "how long to wait for a decision (no limit)" },
    lease: {
      type: "string",
      value: "TIME",
      help: `after a crash, the call becomes unknown after this time (${USUAL_LEASE})`,
    },
    ...REMOTE_FLAGS,
  },
  examples: [
    { line: "exec -- git push origin main", says: "asks, then pushes" },
    {
      line: "exec --key deploy-1.4.2 -- ./deploy.sh 1.4.2",
      says: "runs at most once, however often you start it",
    },
  ],
  async run(invocation) {
    const settings = settingsOf(invocation);
    const gate = openRemoteGate(invocation, USUAL_APP);
    try {
      const claimed = await claimCommand(gate, settings);
      const { exitCode, failure, output } = await runClaimed(gate, claimed, { ...settings, warn });
      if (failure !== undefined && output === "" && exitCode > NOT_RUN) warn(failure);
      return exitCode;
    } catch (error) {
      warn(toldError(error));
      return NOT_RUN;
    }
  },
};

interface ExecSettings {
  readonly key: string;
  readonly argv: readonly string[];
  readonly waitMs: number;
  readonly leaseSeconds: number;
}

function settingsOf({ words, flags }: Invocation): ExecSettings {
  const wait = flags.text("wait");
  const leaseSeconds = parseDuration(flags.text("lease") ?? USUAL_LEASE, "lease") / 1_000;
  if (leaseSeconds < LEAST_LEASE_SECONDS || leaseSeconds > MOST_LEASE_SECONDS)
    throw new CountersignError("invalid-option", "Invalid --lease. Use 5s to 1h.", {
      details: { field: "lease" },
    });
  return {
    key: flags.text("key") ?? randomUUID(),
    argv: words,
    waitMs: wait === undefined ? Number.POSITIVE_INFINITY : parseDuration(wait, "wait"),
    leaseSeconds,
  };
}

/** The claim on the approved command. Throws if it must not run. */
async function claimCommand(
  gate: RemoteGate,
  { key, argv, waitMs, leaseSeconds }: ExecSettings,
): Promise<ClaimedCall> {
  const until = performance.now() + waitMs;
  const { calls } = gate.client;
  const cwd = process.cwd();
  const host = hostname();
  const proposal = {
    key,
    app: gate.app,
    tool: "exec",
    args: { argv, cwd, host },
    description: "Runs a command without a shell.",
    hint: `Run this command in ${cwd.slice(0, 1_000)} on ${host}? It inherits the environment of the process that asks.`,
    requireConfirmation: !gate.trustsPolicy,
    requirePolicy: gate.trustsPolicy,
  };
  const first = await persist((signal) => calls.propose(proposal, { signal }), { tries: TRIES });
  if (first.status === "pending") warn(`The command waits for approval. Its key is ${key}.`);
  // Running is somebody else's run: this process has not claimed it.
  const decided = first.status === "pending" ? await waitForDecision(calls, first, until) : first;
  if (decided.status !== "allowed") throw new Error(refusal(decided));
  try {
    return await freshClaim(gate, key, leaseSeconds);
  } catch (error) {
    if (error instanceof CountersignProblem) throw error;
    throw new Error(
      `${toldError(error)} It is unknown whether the claim succeeded. The command was not run; if the claim did succeed, the call becomes unknown.`,
      { cause: error },
    );
  }
}

function refusal({ status, key, message }: CallerOutcome): string {
  switch (status) {
    case "pending":
      return `Nobody has decided yet. The question stays open. To continue, run this again with --key ${key}.`;
    case "executing":
      return `The call ${key} is running in another process. It runs only once.`;
    case "succeeded":
    case "failed":
      return `The call ${key} has already run. ${message} It runs only once: use another key for another run.`;
    default:
      return message;
  }
}

function warn(message: string): void {
  process.stderr.write(`countersign: ${inert(message)}\n`);
}
