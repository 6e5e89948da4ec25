import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import type { CallContext } from "../calls/call-context.ts";
import type { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { EngineOptions } from "../engine-options.ts";
import type { Host, LiveTool } from "../host.ts";
import type { EventDraft, FrameRecord } from "../ledger/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { oneApproval } from "../people/index.ts";
import type { MessageInput } from "../sessions/receive-message.ts";
import type { CallPlan, PlannedCall } from "../sessions/turns.ts";

type LedgerPart = "items" | "owners" | "journal" | "outbox";

/** The name of every method of a ledger; `owners.beat` for those of its parts. */
export type LedgerMethod =
  | Exclude<keyof Ledger, LedgerPart | "digestKey" | "now" | "volatile">
  | { [P in LedgerPart]: `${P}.${Exclude<keyof Ledger[P] & string, "gapless">}` }[LedgerPart];

/** A ledger that is watched: how often each method was called, with what, and a way to stand in between. */
export interface WatchedLedger {
  readonly ledger: Ledger;
  readonly calls: { readonly method: LedgerMethod; readonly args: readonly unknown[] }[];
  readonly count: (method: LedgerMethod) => number;
  /** Stands between the engine and this method until it is lifted; `pass` does what would have been done. */
  readonly intercept: (
    method: LedgerMethod,
    stand: (pass: () => Promise<unknown>, args: readonly unknown[]) => unknown,
  ) => void;
  readonly lift: (method: LedgerMethod) => void;
  /** From now on nothing comes back and nothing goes through: the process behind it is as good as dead. */
  readonly cut: () => void;
}

const PARTS: ReadonlySet<string> = new Set<LedgerPart>(["items", "owners", "journal", "outbox"]);

/** Wraps a real ledger so that a test can watch its calls and make them fail. */
export function watch(real: Ledger): WatchedLedger {
  const calls: { method: LedgerMethod; args: readonly unknown[] }[] = [];
  const stands = new Map<LedgerMethod, (pass: () => Promise<unknown>, args: readonly unknown[]) => unknown>();
  let isCut = false;
  const through = <T extends object>(part: T, prefix: string): T =>
    new Proxy(part, {
      get(target, property) {
        // It may be made to lose what it has, whatever is below it.
        if (property === "volatile") return false;
        const value: unknown = Reflect.get(target, property, target);
        const method = `${prefix}${String(property)}` as LedgerMethod;
        if (typeof value !== "function")
          return PARTS.has(method) ? through(value as object, `${method}.`) : value;
        return (...args: readonly unknown[]): unknown => {
          if (isCut) return method === "onChange" ? () => {} : new Promise(() => {});
          calls.push({ method, args });
          const pass = (): Promise<unknown> => Reflect.apply(value, target, args) as Promise<unknown>;
          return (stands.get(method) ?? ((go) => go()))(pass, args);
        };
      },
    });
  const ledger = through(real, "");
  return {
    ledger,
    calls,
    count: (method) => calls.filter((call) => call.method === method).length,
    intercept: (method, stand) => void stands.set(method, stand),
    lift: (method) => void stands.delete(method),
    cut: () => {
      isCut = true;
    },
  };
}

/** An engine that can die: after `crash` nothing of it reaches the ledger any more. */
export interface KillableEngine {
  readonly engine: Engine;
  readonly watched: WatchedLedger;
  readonly crash: () => void;
}

export function killableEngine(
  ledger: Ledger,
  clock: ManualClock,
  options: Omit<EngineOptions, "ledger" | "clock"> = {},
): KillableEngine {
  const watched = watch(ledger);
  const engine = new Engine({ ...options, ledger: watched.ledger, clock });
  return { engine, watched, crash: () => watched.cut() };
}

/** Lets everything run that needs no time to pass, until the condition holds. */
export async function until(
  clock: ManualClock,
  condition: () => boolean | Promise<boolean>,
  turns = 5_000,
): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    if (await condition()) return;
    await clock.advance(0);
  }
  throw new Error(`It did not become true in ${turns} turns of the event loop.`);
}

/** Moves time on by the millisecond until this is done: for work that has to wait its turn. */
export async function pumped<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  const progress = { isDone: false };
  const done = work.finally(() => {
    progress.isDone = true;
  });
  while (!progress.isDone) await Promise.race([clock.advance(1), done]);
  return done;
}

/** Lets everything run that needs no time to pass. */
export async function settle(clock: ManualClock, turns = 50): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await clock.advance(0);
}

export const DEFINITION = "v1:test";

/** A tool of a hosted app. */
export function toolOf(
  run: (args: JsonObject, context: CallContext) => JsonValue | undefined | Promise<JsonValue | undefined>,
  options: Partial<LiveTool["asking"]> = {},
): LiveTool {
  return {
    definitionDigest: DEFINITION,
    asking: { approvers: "requester", ...options },
    run: async (call, context) => run(call.args, context),
  };
}

/** An app with these tools. With `step` it also goes on with its frames. */
export function hostOf(
  app: string,
  tools: Readonly<Record<string, LiveTool>>,
  step?: (frame: FrameRecord) => Promise<void>,
): Host {
  return { app, tool: (call) => tools[call.tool], ...(step === undefined ? {} : { step }) };
}

/** A call as a model's turn names it. */
export function planned(
  wireId: string,
  tool: string,
  plan: CallPlan,
  more: Partial<PlannedCall> = {},
): PlannedCall {
  return { wireId, tool, args: { of: wireId }, definitionDigest: DEFINITION, plan, ...more };
}

/** Ask a person, as the requester's own gate does. */
export function ask(hint = "Sure?", more: { readonly expiresInMs?: number } = {}): CallPlan {
  return {
    kind: "ask",
    question: {
      shown: { hint, why: ["test"] },
      requirements: oneApproval("requester"),
      requesters: ["ana"],
      ...more,
    },
  };
}

/** What a user says, and the agent that answers. */
export function message(
  session: { readonly app: string; readonly user: string; readonly id: string },
  text: string,
  invocationId = "i1",
): MessageInput {
  return {
    session,
    event: { author: "user", invocationId, content: { role: "user", parts: [{ text }] } },
    frame: { kind: "llm", agent: "bot", path: ["bot"] },
  };
}

/** What a model says in one turn. */
export function modelSays(text: string, invocationId = "i1"): EventDraft {
  return { author: "bot", invocationId, content: { role: "model", parts: [{ text }] } };
}
