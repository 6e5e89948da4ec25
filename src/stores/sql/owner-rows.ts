import type { OwnerState } from "../../engine/index.ts";

/** The columns of `owners` that make an {@link OwnerState}, in the order of {@link toOwnerState}. */
export const OWNER_COLUMNS = "id, host, pid, last_beat_at, lease_until, fenced";

/** An owner, alive or not at this time of the ledger's clock. */
export function toOwnerState(
  [id, host, pid, lastBeatAt, leaseUntil, fenced]: readonly unknown[],
  now: number,
): OwnerState {
  const isFenced = fenced === 1;
  return {
    id: id as string,
    host: host as string,
    pid: pid as number,
    lastBeatAt: lastBeatAt as number,
    leaseUntil: leaseUntil as number,
    fenced: isFenced,
    alive: !isFenced && (leaseUntil as number) > now,
  };
}
