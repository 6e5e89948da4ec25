import { CountersignError } from "../../protocol/index.ts";
import type { Clock } from "../common/index.ts";
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
export async function untilEnded(parts: EngineParts, callId: string, wait: WaitOptions = {}): Promise<Call> {
  return untilCall(parts, callId, wait, isEnded);
}

/** The same, and also resolves when the call may start. */
export async function untilDecided(
  parts: EngineParts,
  callId: string,
  wait: WaitOptions = {},
): Promise<Call> {
  return untilCall(parts, callId, wait, isDecided);
}

/** Has the call ended, or is its outcome unknown? */
export function isEnded(status: CallStatus): boolean {
  return isAnswered(status) || status === "unknown";
}

/** The same, or may it start? */
export function isDecided(status: CallStatus): boolean {
  return status === "ready" || isEnded(status);
}

async function untilCall(
  parts: EngineParts,
  callId: string,
  { signal, timeoutMs = Number.POSITIVE_INFINITY }: WaitOptions,
  isReached: (status: CallStatus) => boolean,
): Promise<Call> {
  // Keeps the process alive while somebody waits for this.
  const release = parts.clock.hold();
  const done = new AbortController();
  const over = signal === undefined ? done.signal : AbortSignal.any([done.signal, signal]);
  const until = parts.clock.monotonic() + timeoutMs;
  let lookAt = parts.clock.monotonic() + LOOK_MS;
  try {
    for (;;) {
      signal?.throwIfAborted();
      await settledHere(parts, callId, { over, leftMs: until - parts.clock.monotonic() });
      const change = nextChange(parts.ledger);
      try {
        const call = await read(parts.ledger, callId);
        if (isReached(call.status) || parts.clock.monotonic() >= until) return call;
        signal?.throwIfAborted();
        const ms = Math.min(lookAt, until) - parts.clock.monotonic();
        await sleepUnless(parts.clock, { ms, woken: change.happened, over });
        // A busy ledger changes all the time: the time for a look comes all the same.
        if (parts.clock.monotonic() < lookAt) continue;
        lookAt = parts.clock.monotonic() + LOOK_MS;
        // If it fails, it is tried again at the next look.
        if (call.status === "executing") await parts.recoverLost(callId).catch(() => {});
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
  await sleepUnless(clock, { ms: leftMs, woken: executions.settled(callId), over });
}

/** Sleeps until something happens, or this time has passed. Leaves no timer behind. */
async function sleepUnless(
  clock: Clock,
  { ms, woken, over }: { readonly ms: number; readonly woken: Promise<void>; readonly over: AbortSignal },
): Promise<void> {
  const awake = new AbortController();
  try {
    await Promise.race([woken, clock.sleepInBackground(ms, AbortSignal.any([over, awake.signal]))]);
  } finally {
    awake.abort();
  }
}

async function read(ledger: Ledger, callId: string): Promise<Call> {
  const { call, session } = (await ledger.load({ call: callId })) ?? {};
  if (call === undefined || session === undefined)
    throw new CountersignError("unknown-call", `There is no call ${callId}.`);
  return toCall(call, session);
}

function nextChange(ledger: Ledger): { readonly happened: Promise<void>; readonly forget: () => void } {
  const { promise: happened, resolve } = Promise.withResolvers<void>();
  const forget = ledger.onChange(() => {
    forget();
    resolve();
  });
  return { happened, forget };
}
