import type { CallStatus, Settlement } from "../../src/engine/index.ts";
import type { JsonValue } from "../../src/protocol/index.ts";
import type { Line } from "../support/processes/child.ts";

/** How one racing process is set up. */
export interface RacerOptions {
  readonly ledger: string;
  /** The ledger's URL through a pooler, where its engine is to go through one. */
  readonly pooled?: string;
  readonly effects: string;
  readonly name: string;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** Take up what others leave? */
  readonly works: boolean;
  /** Stops itself, as SIGSTOP does, right after it has claimed a call and before it enters its body. */
  readonly stopsAfterClaim?: boolean;
  /** Lets go of sessions without looking for what became ready: a broken engine. */
  readonly releasesBlindly?: boolean;
}

/** What a racer can be asked to do. `at`: no earlier than this moment, and as exactly then as it can. */
export type Task =
  | { readonly do: "open"; readonly gate: GateName; readonly key: string }
  | {
      readonly do: "decide";
      readonly confirmation: string;
      readonly confirmed: boolean;
      readonly times: number;
      readonly at?: number;
    }
  | {
      readonly do: "vote";
      readonly confirmation: string;
      readonly votes: readonly RacedVote[];
      readonly at?: number;
    }
  | { readonly do: "settle"; readonly call: string; readonly settlement: Settlement }
  | { readonly do: "await-call"; readonly call: string; readonly status: CallStatus }
  | { readonly do: "await-record"; readonly kind: string }
  | { readonly do: "message"; readonly session: string; readonly number: number; readonly at?: number }
  | { readonly do: "let-go"; readonly session: string; readonly how: Release; readonly at?: number };

/** How a step ends: with its frame, or with a turn that waits for a person. */
export type Release = "finish" | "pause";

/**
 * `quick` ends at once, `slow` when it is told to, `brief` can be approved for a moment only; `pair` and `many` need
 * the approvals of several voters.
 */
export type GateName = "quick" | "slow" | "brief" | keyof typeof QUORUMS;
/** How many of the voters must approve. */
export const QUORUMS = { pair: 2, many: 12 } as const;
export const VOTERS: readonly string[] = Array.from({ length: 20 }, (_, index) => `voter-${index}`);
export const BRIEF_MS = 100;

/** What one voter does: all of it at the same moment as the others of the process. */
export interface RacedVote {
  readonly by: string;
  readonly how: "approve" | "deny" | "withdraw";
}

/** What one voter was told. */
export interface VoteAnswer {
  readonly by: string;
  readonly how: RacedVote["how"];
  readonly ok: boolean;
  readonly repeated?: boolean;
  readonly code?: string;
  /** The question as it was with this vote. */
  readonly status?: string;
}

/** One of the answers to a decision. */
export interface Answer {
  readonly ok: boolean;
  readonly repeated?: boolean;
  readonly code?: string;
  readonly message?: string;
  /** The decision that stands: who, what and when. */
  readonly decision?: string;
  /** What the call came to, as this caller was told. */
  readonly final?: { readonly status: CallStatus; readonly result: JsonValue };
}

/** Replies to tasks, by task. */
export interface Replies {
  readonly open: { readonly status: string; readonly confirmation: string; readonly call: string };
  readonly decide: readonly Answer[];
  readonly vote: readonly VoteAnswer[];
  readonly settle: { readonly ok: boolean; readonly code?: string };
  readonly "await-call": { readonly attempt: number };
  readonly "await-record": { readonly seq: number };
  readonly message: { readonly ok: boolean; readonly code?: string; readonly confirmation?: string };
  readonly "let-go": { readonly ok: boolean };
}

export interface TaskMessage {
  readonly type: "task";
  readonly id: number;
  readonly task: Task;
}

/** What a racer is told. */
export type RacerMessage = TaskMessage | { readonly type: "leave-body" };

/** What a racer says. */
export type RacerLine =
  | (Line & { readonly type: "ready" })
  | (Line & {
      readonly type: "reply";
      readonly id: number;
      readonly value?: unknown;
      readonly error?: string;
    })
  | (Line & { readonly type: "in-body"; readonly call: string; readonly attempt: number })
  | (Line & { readonly type: "left-body"; readonly call: string; readonly attempt: number })
  | (Line & { readonly type: "claimed" })
  | (Line & { readonly type: "stepped"; readonly session: string; readonly frame: string });
