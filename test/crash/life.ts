import type { CallStatus } from "../../src/engine/index.ts";
import { CountersignError, type JsonObject } from "../../src/protocol/index.ts";
import type { LedgerPlace } from "../support/ledger/open-view.ts";
import type { Line } from "../support/processes/child.ts";
import { say } from "../support/processes/program.ts";
import type { Strike } from "./points.ts";
import type { Sabotage } from "./sabotage.ts";

/** What one session of a run is about. */
export const KINDS = [
  "approve",
  "deny",
  "expire",
  "withdraw",
  "idempotent",
  "ungated",
  "lookup",
  "asks",
  "adk",
  "worded",
  "fails",
  "unsure",
  "turn",
  "converse",
  "delegate",
] as const;
/** `votes` needs two votes and the people who fill in; it takes longer than the others, so only runs of its own have it. */
export type Kind = (typeof KINDS)[number] | "votes";

/** What one process of a run is to do. Which sessions there are follows from `kinds` and `sessions`. */
export interface LifeOptions {
  readonly ledger: LedgerPlace;
  /** Where the process finds it, if something stands in between. */
  readonly through?: LedgerPlace;
  readonly effects: string;
  readonly seed: number;
  readonly kinds: readonly Kind[];
  /** How many sessions there are by now; those of earlier processes come first. */
  readonly sessions: number;
  /** Two processes may share the sessions; each starts only its own conversations. */
  readonly share: { readonly index: number; readonly of: number };
  /** Settle calls whose outcome is unknown? */
  readonly settle: boolean;
  /** About so much of it the people of different processes disagree, and say so at the same moment. */
  readonly quarrel?: number;
  readonly strike?: Strike;
  /** How far the process's clock is off. */
  readonly skewMs?: number;
  readonly durability?: "full";
  readonly lease?: { readonly leaseMs: number; readonly heartbeatMs: number };
  readonly sabotage?: Sabotage;
  /** Run a call that does not end, so that the process's owner beats for as long as it lives? */
  readonly watch?: boolean;
}

/** What a process says. Each line is said only after the promise that it speaks of has resolved. */
export type LifeLine =
  | (Line & { readonly type: "ready" })
  | (Line & { readonly type: "committed"; readonly records: readonly string[] })
  | (Line & {
      readonly type: "decided";
      readonly confirmation: string;
      readonly session: string;
      readonly confirmed: boolean;
    })
  /** A vote that does not decide, or its withdrawal. */
  | (Line & { readonly type: "voted" | "unvoted"; readonly confirmation: string; readonly by: string })
  | (Line & { readonly type: "withdrawn"; readonly confirmation: string; readonly session: string })
  | (Line & { readonly type: "refused"; readonly confirmation: string; readonly code: string })
  /** The lease of this owner was renewed, no earlier than then. */
  | (Line & {
      readonly type: "beat";
      readonly owner: string;
      readonly sentAt: number;
      readonly leaseMs: number;
    })
  /** This owner gives up its lease. */
  | (Line & { readonly type: "retiring"; readonly owner: string; readonly at: number })
  | (Line & { readonly type: "settled-call"; readonly call: string; readonly as: string })
  | (Line & { readonly type: "finished"; readonly call: string; readonly status: CallStatus })
  | (Line & { readonly type: "at-decision"; readonly confirmation: string })
  /** It has come to where it is to be struck. */
  | (Line & { readonly type: "struck" })
  /** The ledger no longer has what it had acknowledged, or may not have it. */
  | (Line & { readonly type: "notice"; readonly kind: string; readonly details: JsonObject })
  | (Line & { readonly type: "error"; readonly message: string })
  /** Nothing is left to do of so many sessions. */
  | (Line & { readonly type: "done"; readonly sessions?: number });

/** What a process can be told. */
export type LifeMessage =
  | { readonly type: "go" | "close" }
  /** There are so many sessions now. */
  | { readonly type: "more"; readonly sessions: number };

/** Signs decisions and keys the chain, so that crashes happen to signatures too. */
export const SECRET = "the secret of the crash tests";
export const LEASE_MS = 300;
export const HEARTBEAT_MS = 100;
export const SWEEP_MS = 50;
export const SEAL_MS = 200;

export const AGENT_APP = "agent";

/** The sessions of a run, by name: the same in every process of it. */
export function plannedSessions({
  kinds,
  sessions,
}: Pick<LifeOptions, "kinds" | "sessions">): readonly { readonly kind: Kind; readonly id: string }[] {
  return Array.from({ length: sessions }, (_, index) => {
    const kind = kinds[index % kinds.length] as Kind;
    return { kind, id: `${kind}-${index}` };
  });
}

/** Is it a conversation with frames, or one call of a gated function? */
export function isConversation(kind: Kind): boolean {
  return messagesOf(kind) > 0;
}

/** How many messages are sent in a session of this kind. */
export function messagesOf(kind: Kind): number {
  if (kind === "converse") return 2;
  return kind === "turn" || kind === "delegate" ? 1 : 0;
}

/** A tool of this name words its own denial. */
export function wordsDenial(tool: string): boolean {
  return tool === "worded";
}

/** What a tool that fails says; a failure with other words is not the tool's. */
export const TOOL_FAILURE = "the tool says no";

/** Says a line to the test. */
export function tell(line: LifeLine): void {
  say(line);
}

/** Says to the test what went wrong. */
export function complain(error: unknown): void {
  // Whoever was at work when the process was told to close.
  if (CountersignError.isInstance(error) && error.code === "closed") return;
  tell({ type: "error", message: describeError(error) });
}

/** An error as a test wants to read it. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by ${describeError(error.cause)}`;
  return (error.stack ?? error.message) + cause;
}
