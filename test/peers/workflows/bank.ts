// What the test tells a worker, and what the worker tells the test.
import { writeSync } from "node:fs";

const options = JSON.parse(process.argv[2] ?? "{}") as {
  readonly ledger: string;
  /** Stays inside the payment until it is killed. */
  readonly hangs?: boolean;
  readonly port?: number;
};

export const { ledger, port = 0 } = options;
export const url = ledger;

/** How often a workflow looks whether somebody has decided. */
export const POLL_MS = 200;

/** Says one line to the test. */
export function say(line: { readonly type: string; readonly [member: string]: unknown }): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

/** Pays, or is inside the payment for as long as the process lives. */
export async function pay(amount: number, idempotencyKey: string): Promise<{ paid: number }> {
  say({ type: "entered", amount, idempotencyKey });
  if (options.hangs === true) await new Promise(() => setInterval(() => {}, 60_000));
  return { paid: amount };
}
