import type { Confirmation } from "../engine/index.ts";

/**
 * What there is to tell. `settled`: a call whose outcome was unknown has one now, by a person's word or by a late
 * result.
 */
export type NoticeType =
  | "confirmation.requested"
  | "confirmation.decided"
  | "confirmation.expired"
  | "confirmation.cancelled"
  | "call.unknown"
  | "call.settled";

/** A call that nobody was asked about. */
export type NotedCall = Pick<
  Confirmation,
  "callId" | "turn" | "app" | "agent" | "user" | "session" | "tool" | "args"
> & { readonly status: string };

/** Something that happened, and what it happened to as that is now: by then more may have happened to it. */
export interface Notice {
  /** The same at every attempt to tell it, so that whoever is told twice can know. */
  readonly id: string;
  readonly type: NoticeType;
  /** Grows in the order in which things happened; notices may arrive in another. */
  readonly sequence: number;
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
  /** With declared secrets redacted. Its texts are a model's or a stranger's: show them as data, never as markup. */
  readonly about: Confirmation | NotedCall;
  /** Where a person decides or settles it. Opening it does nothing by itself. */
  readonly link?: string;
}

/** Whether the recipient has it. A failure is tried again, unless it is `final`, not before `retryAfterMs`. */
export type Told =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** For the operator; names no secret. */
      readonly reason: string;
      readonly retryAfterMs?: number;
      readonly final?: true;
    };

/**
 * A way to reach people who are not looking. It announces what waits, brings what it announced up to date, and tells
 * of outcomes that nobody knows. It carries no decision: those come by a way in that says who decides.
 */
export interface Channel {
  /** Under this name the ledger remembers what it still has to tell; a new name starts afresh. */
  readonly name: string;
  /**
   * Tells one notice; it may have been told before. Ends soon after the signal aborts. A recipient that cannot be
   * reached, or does not want it, is an outcome and not an error.
   */
  tell(notice: Notice, signal: AbortSignal): Promise<Told>;
}
