import type { JsonObject, JsonValue } from "../../../protocol/index.ts";
import type { Principal } from "../../people/index.ts";
import type { Asker } from "./frame-record.ts";
import type { StoredGrantUse } from "./grant-record.ts";

export type CallStatus =
  | "waiting"
  | "ready"
  | "executing"
  | "suspended"
  | "unknown"
  | "succeeded"
  | "failed"
  | "denied"
  | "expired"
  | "cancelled";

/** One function call. Claims, attempts and results live here; confirmations are questions about it. */
export interface CallRecord {
  /** `<session key>.<wire id>`: unique everywhere, and the idempotency key that tools get. */
  readonly id: string;
  readonly session: string;
  readonly app: string;
  readonly frame?: string;
  readonly turn: number;
  readonly ord: number;
  readonly wireId: string;
  readonly agent: string;
  readonly tool: string;
  /** What is shown and what runs, unless a person amended it. */
  readonly args: JsonObject;
  /** The model's own arguments, once an approver has changed them. */
  readonly originalArgs?: JsonObject;
  /** The parsed arguments are not JSON, so they are parsed again from `args` when the function starts. */
  readonly unparsed: boolean;
  readonly argsDigest: string;
  /** For a caller's call: the digest of what the model sent, before it was parsed, if the caller has seen it. */
  readonly sentDigest?: string;
  readonly definitionDigest: string;
  /** Who asked, where that is not simply the session's user; the last of them is the user it is for. */
  readonly requesters?: readonly string[];
  /** Who made it, as they were known then, if it belongs to no frame. */
  readonly asker?: Asker;
  /** JSON pointers into `args` that only the tool may see. */
  readonly secrets: readonly string[];
  /** May be started again after a crash. */
  readonly repeatable: boolean;
  /** The program that asked also runs it, under a lease of its own; no process of ours does. */
  readonly runs?: "caller";
  /** For a caller's call: the program's name for the model's turn that made it. */
  readonly callerTurn?: string;
  /** Proof that the call needed no approval when it was made; without it, only an approval lets it start. */
  readonly permit?: string;
  /** The grant that let it run without a question. */
  readonly grant?: StoredGrantUse;
  readonly status: CallStatus;
  readonly attempt: number;
  /** How many of its attempts were lost with their processes. */
  readonly lost?: number;
  readonly owner?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** The open question, or the last one. */
  readonly confirmation?: string;
  /** How many questions were asked about this call. */
  readonly rounds: number;
  /** Denied, and the tool may still word the answer. */
  readonly refused: boolean;
  /** The last settlement by a person. */
  readonly settled?: SettlementRecord;
  readonly result?: JsonValue;
}

/** Who settled an unknown call, how, and when. */
export interface SettlementRecord {
  readonly as: "succeeded" | "failed" | "retry";
  /** It did not happen, not even in part. */
  readonly happened?: false;
  /** What it took of its grant was given back. */
  readonly refunded?: true;
  readonly by: Pick<Principal, "id" | "kind" | "authenticated">;
  readonly via: string;
  readonly at: number;
}

export type StepKind = "step" | "question";
/** `undone`: it had begun, and a person said that it did not happen. */
export type StepStatus = "started" | "done" | "failed" | "asked" | "undone";

/** Work that a tool remembers, or a question it put, within one call. */
export interface StepRecord {
  readonly call: string;
  readonly kind: StepKind;
  readonly name: string;
  readonly occurrence: number;
  readonly status: StepStatus;
  /** A question's hint, payload and schema, so that a replay that asks differently is noticed. */
  readonly digest?: string;
  readonly value?: JsonValue;
}
