import type { Confirmation, Told } from "../engine/index.ts";
import type { Receive, Serve } from "./inbound.ts";
import type { PeopleKnown } from "./people.ts";

export type { Told } from "../engine/index.ts";

/**
 * The type of a notice. `settled`: an unknown call now has an outcome, from a person or from a late result. `voted`
 * (somebody voted or took it back, and more votes are needed) and `ended` (a call that ran has ended) are only for
 * channels that keep their messages current.
 */
export type NoticeType =
  | "confirmation.requested"
  | "confirmation.voted"
  | "confirmation.decided"
  | "confirmation.reminded"
  | "confirmation.escalated"
  | "confirmation.expired"
  | "confirmation.cancelled"
  | "call.ended"
  | "call.unknown"
  | "call.settled";

/** A call without a confirmation. */
export type NotedCall = Pick<
  Confirmation,
  "callId" | "turn" | "app" | "agent" | "user" | "session" | "tool" | "args"
> & { readonly status: string };

/** An event, with the confirmation or call as it is now: more may have happened to it since. */
export interface Notice {
  /** The same at every attempt, so that recipients can detect duplicates. */
  readonly id: string;
  readonly type: NoticeType;
  /** Increases in the order of events; notices may arrive in a different order. */
  readonly sequence: number;
  /** Increases with every change of what `about` shows; a lower one is older. */
  readonly revision: number;
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
  /** With declared secrets redacted. Its texts are a model's or a stranger's: show them as data, never as markup. */
  readonly about: Confirmation | NotedCall;
  /** What is known about people now: for `askedAmong`. */
  readonly known?: PeopleKnown;
  /** The link to its card. Opening it decides nothing. */
  readonly link?: string;
  /** The same for another question, by its id: for a message about several. */
  readonly linkFor?: (confirmation: string) => string;
}

/**
 * A way to reach people who do not have the inbox open. It announces confirmations, updates what it announced, and
 * reports unknown outcomes. What people answer there comes in through its entries.
 */
export interface Channel {
  /** Identifies the channel's queue in the ledger; a new name starts at the journal's end. */
  readonly name: string;
  /** It updates its messages, so it also gets `confirmation.voted` and `call.ended`. */
  readonly keepsCurrent?: boolean;
  /**
   * Sends one notice; it may have been sent before. Must end soon after the signal aborts. An unreachable or unwilling
   * recipient is an outcome, not an error.
   */
  tell(notice: Notice, signal: AbortSignal): Promise<Told>;
  /** Where the medium calls back, by the name in `/channels/<channel>/<entry>`. */
  readonly entries?: { readonly [entry: string]: Receive };
  /** What people who are logged in can ask the channel for, by the name in `/channels/<channel>/<route>`. */
  readonly routes?: { readonly [route: string]: Serve };
  /** What is wrong with its configuration, found without sending anything to a person; empty if nothing is. */
  check?(signal: AbortSignal): Promise<readonly string[]>;
  /** Sends a harmless message that asks for nothing, to everyone who would get a real one, or only to this person. */
  sendTest?(signal: AbortSignal, only?: string): Promise<Told>;
}
