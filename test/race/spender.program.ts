import { Engine, type Policy, toPrincipal } from "../../src/engine/index.ts";
import { CountersignError } from "../../src/protocol/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import { programOptions, say } from "../support/processes/program.ts";

/** One process that spends what was granted, as fast as it can: in one session, or in one for each payment. */
export interface SpenderOptions {
  readonly url: string;
  readonly name: string;
  readonly scope: "session" | "user";
  /** What it wants to pay, in cents. */
  readonly cents: readonly number[];
}

export type SpenderLine =
  | { readonly type: "spent"; readonly key: string; readonly cents: number }
  | { readonly type: "done"; readonly refused: number };

export const SPENDER = { app: "shop", tool: "pay", secret: "a secret of the race" } as const;
export const BOT = toPrincipal({ id: "bot", kind: "token", authenticated: true, scopes: ["propose"] });

export const spendingPolicy: Policy = () => ({
  outcome: "confirm",
  reason: "payments",
  approvers: { users: ["ana"] },
  grants: { scope: "user", forMs: 3_600_000, count: 30, sum: { amount: 100 } },
});

const LEASE_MS = 60_000;
const AT_ONCE = 6;

interface Payment {
  readonly key: string;
  readonly thread: string;
  readonly cents: number;
}

async function spend(engine: Engine, { key, thread, cents }: Payment): Promise<boolean> {
  const { app, tool } = SPENDER;
  const proposal = {
    by: BOT,
    key,
    app,
    tool,
    thread,
    args: { amount: cents / 100 },
    requireConfirmation: false,
  };
  const { status } = await engine.callers.propose(proposal);
  if (status !== "allowed") return status !== "pending";
  const { claim } = await engine.callers.claim({ by: BOT.id, key }, { leaseMs: LEASE_MS });
  if (claim === undefined) return true;
  say({ type: "spent", key, cents } as SpenderLine);
  await engine.callers.end({ by: BOT.id, key }, claim, { kind: "succeeded", result: null });
  return true;
}

async function run({ url, name, scope, cents: wanted }: SpenderOptions): Promise<void> {
  const { secret } = SPENDER;
  const engine = new Engine({
    ledger: await createLedger(url),
    policy: spendingPolicy,
    secret,
    maxOpen: 500,
  });
  const queue = wanted.map((cents, index): Payment => {
    const key = `${name}-${index}`;
    return { key, cents, thread: scope === "user" ? key : "t1" };
  });
  let refused = 0;
  const one = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      try {
        if (!(await spend(engine, next))) refused += 1;
      } catch (error) {
        // The session changed too often, or too many questions are open: this payment is not made.
        if (!CountersignError.isInstance(error)) throw error;
        refused += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  say({ type: "done", refused } as SpenderLine);
  await engine.close();
}

// The test imports what it shares with the program; only the program has options.
if (process.argv[2]?.startsWith("{") === true) await run(programOptions() as SpenderOptions);
