import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../engine/index.ts";

const PATIENCE_MS = 1_000;

/**
 * Leaves what still runs to other processes, before this one ends. A ledger that does not answer is not waited for: the
 * lease then runs out by itself. Never rejects.
 */
export async function abandonWork(engine: Pick<Engine, "abandon">): Promise<void> {
  await Promise.race([engine.abandon().catch(() => {}), sleep(PATIENCE_MS)]);
}
