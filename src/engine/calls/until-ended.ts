import { CountersignError } from "../../protocol/index.ts";
import type { CallStatus, Ledger } from "../ledger/index.ts";
import { isAnswered } from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";
import { type Call, toCall } from "./call.ts";

/** How long somebody waits for a call. */
export interface WaitOptions {
  /** Rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** After this long it resolves to the call as it is then. Default: no limit. */
  readonly timeoutMs?: number;
}

// A process that died says nothing, so its calls are looked for.
const LOOK_MS = 3_000;

/**
 * Resolves when the call has ended or its outcome is unknown, wherever it runs. A call whose process died is recovered
 * meanwhile, also if no worker runs.
 */
export async function untilEnded(
  parts: EngineParts,
  callId: string,
  { signal, timeoutMs = Number.POSITIVE_INFINITY }: WaitOptions = {},
): Promise<Call> {
  // Keeps the process alive while somebody waits for this.
  const release = parts.clock.hold();
  const done = new AbortController();
  const over = signal === undefined ? done.signal : AbortSignal.any([done.signal, signal]);
  const until = parts.clock.monotonic() + timeoutMs;
  try {
    for (;;) {
      signal?.throwIfAborted();
      await settledHere(parts, callId, { over, leftMs: until - parts.clock.monotonic() });
      const change = nextChange(parts.ledger);
      try {
        const call = await read(parts.ledger, callId);
        if (isOver(call.status) || parts.clock.monotonic() >= until) return call;
        signal?.throwIfAborted();
        const lookMs = Math.min(LOOK_MS, until - parts.clock.monotonic());
        const looked = parts.clock.sleepInBackground(lookMs, over).then(() => "looked");
        const woken = await Promise.race([change.happened, looked]);
        // If it fails, it is tried again at the next look.
        if (woken === "looked" && call.status === "executing")
          await parts.recoverLost(callId).catch(() => {});
      } finally {
        change.forget();
      }
    }
  } finally {
    done.abort();
    release();
  }
}

// What runs in this process needs no look at the ledger.
async function settledHere(
  { executions, clock }: EngineParts,
  callId: string,
  { over, leftMs }: { readonly over: AbortSignal; readonly leftMs: number },
): Promise<void> {
  const settled = executions.settled(callId);
  const early = new AbortController();
  const limit = clock.sleepInBackground(leftMs, AbortSignal.any([over, early.signal]));
  try {
    await Promise.race([settled, limit]);
  } finally {
    early.abort();
  }
}

function isOver(status: CallStatus): boolean {
  return isAnswered(status) || status === "unknown";
}

async function read(ledger: Ledger, callId: string): Promise<Call> {
  const { call, session } = (await ledger.load({ call: callId })) ?? {};
  if (call === undefined || session === undefined)
    throw new CountersignError("unknown-call", `There is no call ${callId}.`);
  return toCall(call, session);
}

function nextChange(ledger: Ledger): { readonly happened: Promise<string>; readonly forget: () => void } {
  const { promise: happened, resolve } = Promise.withResolvers<string>();
  const forget = ledger.onChange(() => {
    forget();
    resolve("changed");
  });
  return { happened, forget };
}
