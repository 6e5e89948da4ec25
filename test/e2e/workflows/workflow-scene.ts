import { expect } from "vitest";
import { createEngine, type Engine, type GateOutcome } from "../../../src/index.ts";
import type { Child, Line } from "../../support/processes/child.ts";
import type { Resources } from "../../support/resources.ts";

export const INSTALLING = 600_000;
export const TIME_MS = 240_000;
export const PATIENCE: { readonly timeout: number; readonly interval: number } = {
  timeout: 120_000,
  interval: 100,
};
export const BOSS: { readonly by: { readonly id: string; readonly roles: readonly string[] } } = {
  by: { id: "boss", roles: ["finance"] },
};

export type Outcome = GateOutcome<{ readonly paid: number }>;

export type WorkerLine =
  | (Line & { readonly type: "started" })
  | (Line & { readonly type: "listening"; readonly port: number })
  | (Line & { readonly type: "entered"; readonly idempotencyKey: string })
  | (Line & { readonly type: "ended"; readonly outcome: Outcome });

/** A workflow engine's worker, and somebody else's process on the same ledger. */
export interface WorkflowScene {
  readonly engine: Engine;
  /** How often the payment was begun, in any process. */
  readonly entered: readonly string[];
  /** Starts the worker, or starts it again. */
  readonly start: (more?: { readonly hangs?: boolean; readonly port?: number }) => Child<WorkerLine>;
  /** The id of the one open question. */
  readonly question: () => Promise<string>;
}

export async function openScene(
  resources: Resources,
  { ledger, program }: { readonly ledger: string; readonly program: string },
): Promise<WorkflowScene> {
  const engine = await createEngine({ ledger });
  resources.add(() => engine.close());
  const entered: string[] = [];
  return {
    engine,
    entered,
    start: (more = {}) => {
      const source = new URL(`../../peers/workflows/${program}`, import.meta.url);
      const child = resources.child<WorkerLine>(source, { args: [JSON.stringify({ ledger, ...more })] });
      child.onLine((line) => line.type === "entered" && entered.push(line.idempotencyKey));
      return child;
    },
    question: async () => {
      await expect.poll(async () => (await engine.pending()).length, PATIENCE).toBe(1);
      return (await engine.pending())[0]?.id ?? "";
    },
  };
}
