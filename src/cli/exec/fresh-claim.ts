import { randomUUID } from "node:crypto";
import type { ClaimedCall } from "../../client/index.ts";
import { persist } from "../remote/persist.ts";
import type { RemoteGate } from "../remote/remote-gate.ts";

const TRIES = 4;

/**
 * Claims an allowed call. The claim's answer may take long, and this process or its machine may sleep meanwhile: then the
 * claim is renewed before anything runs. Throws `not-claimable`, and `claim-lost` if it ran out: the call was not run, and
 * the server is told so.
 */
export async function freshClaim(
  { client }: RemoteGate,
  key: string,
  leaseSeconds: number,
): Promise<ClaimedCall> {
  const claiming = { nonce: randomUUID(), leaseSeconds };
  let asked = clocks();
  const claimed = await persist((signal) => client.calls.claim(key, claiming, { signal }), { tries: TRIES });
  const { token, attempt } = claimed.claim;
  try {
    while (isOld(asked, leaseSeconds)) {
      asked = clocks();
      const proof = { token, attempt, leaseSeconds };
      await persist((signal) => client.calls.heartbeat(key, proof, { signal }), { tries: TRIES });
    }
  } catch (error) {
    const report = {
      token,
      attempt,
      error: "The command was not run: its claim could not be renewed in time.",
    };
    // If this fails too, the call stays unknown.
    await persist((signal) => client.calls.fail(key, report, { signal }), { tries: TRIES }).catch(() => {});
    throw error;
  }
  return claimed;
}

/** Either clock may stand still while the machine or the process does. */
function clocks(): readonly [wall: number, monotonic: number] {
  return [Date.now(), performance.now()];
}

function isOld(since: readonly [number, number], leaseSeconds: number): boolean {
  return clocks().some((now, which) => now - (since[which] ?? 0) > leaseSeconds * 500);
}
