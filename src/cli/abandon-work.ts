import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../engine/index.ts";

const PATIENCE_MS = 1_000;

/**
 * Releases running work to other processes before this one exits. Does not wait for an unreachable ledger: the lease
 * then expires by itself. Never rejects.
 */
export async function abandonWork(engine: Pick<Engine, "abandon">): Promise<void> {
  await Promise.race([engine.abandon().catch(() => {}), sleep(PATIENCE_MS)]);
}
