import { type ClaimedCall, CountersignProblem } from "../../client/index.ts";
import { CountersignError, isJsonArray, type JsonObject, member } from "../../protocol/index.ts";
import { persist, toldError } from "../remote/persist.ts";
import type { RemoteGate } from "../remote/remote-gate.ts";
import { type CommandEnd, type CommandLine, runCommand } from "./command-run.ts";

const BEATS_PER_LEASE = 4;
/** Long enough for a server to restart. */
const REPORT_TRIES = 12;

export interface ClaimedRunOptions {
  readonly leaseSeconds: number;
  /** Told of what the person at the terminal should know. */
  readonly warn: (message: string) => void;
}

/** Runs a claimed command, renews the claim meanwhile, and reports the end. */
export async function runClaimed(
  gate: RemoteGate,
  claimed: ClaimedCall,
  options: ClaimedRunOptions,
): Promise<CommandEnd> {
  const stopBeating = keepClaim(gate, claimed, options);
  let end: CommandEnd;
  try {
    end = await runCommand(commandOf(claimed.claim.args));
  } finally {
    stopBeating();
  }
  const waitsForResumption = onceTold(() =>
    options.warn(
      `The tenant is suspended. The command ended with exit code ${end.exitCode}; this is reported once the tenant is resumed. If you end this process before that, the call becomes unknown.`,
    ),
  );
  try {
    await persist((signal) => report(gate, claimed, end, signal), {
      tries: REPORT_TRIES,
      waitsForResumption,
    });
  } catch (error) {
    options.warn(
      `${toldError(error)} The command ended with exit code ${end.exitCode}, but this could not be recorded: the call becomes unknown.`,
    );
  }
  return end;
}

/** Always true; tells it the first time. */
function onceTold(tell: () => void): () => boolean {
  let told = false;
  return () => {
    if (!told) tell();
    told = true;
    return true;
  };
}

function keepClaim(
  { client }: RemoteGate,
  { key, claim: { token, attempt } }: ClaimedCall,
  { leaseSeconds, warn }: ClaimedRunOptions,
): () => void {
  let lost = false;
  const everyMs = (leaseSeconds * 1_000) / BEATS_PER_LEASE;
  const beat = async (): Promise<void> => {
    try {
      const signal = AbortSignal.timeout(everyMs);
      await client.calls.heartbeat(key, { token, attempt, leaseSeconds }, { signal });
    } catch (error) {
      // Others pass, or the next one says so.
      if (lost || !(error instanceof CountersignProblem) || error.code !== "claim-lost") return;
      lost = true;
      warn("The claim was lost while the command runs: the call is shown as unknown until it ends.");
    }
  };
  const timer = setInterval(() => {
    beat().catch(() => {});
  }, everyMs);
  return () => clearInterval(timer);
}

function report(
  { client }: RemoteGate,
  { key, claim: { token, attempt } }: ClaimedCall,
  { exitCode, failure, output }: CommandEnd,
  signal: AbortSignal,
): Promise<unknown> {
  if (failure === undefined)
    return client.calls.succeed(key, { token, attempt, result: { exitCode, output } }, { signal });
  const error = output === "" ? failure : `${failure} Its last output:\n${output}`;
  return client.calls.fail(key, { token, attempt, error }, { signal });
}

function commandOf(args: JsonObject): CommandLine {
  const argv = member(args, "argv");
  const cwd = member(args, "cwd");
  if (isJsonArray(argv) && argv.every((word) => typeof word === "string") && typeof cwd === "string")
    return { argv, cwd };
  throw new CountersignError("arguments-mismatch", "The server returned a call that is not a command.");
}
