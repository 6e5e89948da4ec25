import type { Engine, GatedFunction } from "../../engine/index.ts";

/** Above this, a person is asked. */
export const LIMIT = 1_000;

const DEADLINE_MS = 60 * 60 * 1_000;

type Reimburse = GatedFunction<{ readonly amount: number }, { readonly paid: number }>;

/** A function behind the gate, and how often its body was entered for each key since this process began. */
export interface Reimbursing {
  readonly reimburse: Reimburse;
  readonly runsOf: (key: string) => number;
}

/** The reimbursement of the ADK's own example: small amounts at once, large ones when a person says so. */
export function defineReimburse(engine: Engine): Reimbursing {
  const runs = new Map<string, number>();
  const reimburse: Reimburse = engine.gate(
    "reimburse",
    {
      description: "Reimburse an amount. Large amounts (>1000) require manager approval.",
      parameters: {
        type: "object",
        properties: { amount: { type: "number", description: "The amount to reimburse." } },
        required: ["amount"],
        additionalProperties: false,
      },
      requireConfirmation: ({ amount }: { readonly amount: number }) => amount > LIMIT,
      confirmationHint: ({ amount }) => `Pay out $${amount}? Amounts over $${LIMIT} need approval.`,
      expiresInMs: DEADLINE_MS,
    },
    async ({ amount }, { session }) => {
      runs.set(session.id, (runs.get(session.id) ?? 0) + 1);
      return { paid: amount };
    },
  );
  return { reimburse, runsOf: (key) => runs.get(key) ?? 0 };
}
