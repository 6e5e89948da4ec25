import type { JsonObject, JsonValue, ToolConfirmation } from "../../../protocol/index.ts";
import type { Approvers, Principal, Requirement } from "../../people/index.ts";
import type { GrantLimits } from "./grant-record.ts";

export type ConfirmationStatus = "requested" | "approved" | "denied" | "expired" | "cancelled";

/** How a tool wants its card laid out. Display only: nothing here is bound to the call or judged. */
export interface CardLayout {
  /** To approve, the button must be held down for a moment. */
  readonly hold?: true;
  /** Names of two arguments that are one text before and after; shown as a diff beside the arguments. */
  readonly diff?: { readonly before: string; readonly after: string };
  /** How each argument is shown. Default: chosen by its name, never by what a model wrote. */
  readonly display?: { readonly [argument: string]: ArgumentDisplay };
}

/**
 * How a text is shown: as it is, as code, as a unified diff, as an address, as the body of an e-mail, or as Markdown. `file`:
 * a picture (PNG, JPEG, GIF) or a PDF, as base64, as a data URL or as `{ mimeType, data }` with nothing else in it. A PNG or
 * JPEG is drawn; a GIF or PDF has to be saved before the call is approved. Anything else is shown as text or fields.
 */
export type ArgumentDisplay =
  | "text"
  | "code"
  | "sql"
  | "shell"
  | "patch"
  | "url"
  | "email"
  | "markdown"
  | "file";

/** What is put before a person. A change of it moves `shownVersion`. */
export interface Shown {
  readonly hint: string;
  readonly payload?: JsonValue;
  /** JSON Schema that an approval's payload must fit. */
  readonly schema?: JsonObject;
  readonly amendable?: true | readonly string[];
  /** JSON Schema that amended arguments must fit. */
  readonly argsSchema?: JsonObject;
  /** What made the call need a person, every source that said so. */
  readonly why: readonly string[];
  /** Nobody but the tool's own author set the gate: no rule, manifest, server or hook. */
  readonly authorOnly?: boolean;
  /** MCP server or remote agent. */
  readonly source?: string;
  /** Where the call itself waits, for one of an agent that runs elsewhere. */
  readonly remote?: { readonly agent: string; readonly task: string; readonly context: string };
  /** The question's name, for a tool that asked by itself. */
  readonly question?: string;
  /** The decision that had let the call start when it put this question. */
  readonly startedWith?: ToolConfirmation;
  /** That decision answered a question of the tool's own, not the gate's. */
  readonly startedByTool?: true;
  readonly askedByTool?: boolean;
  readonly onDenied?: "invoke";
  readonly layout?: CardLayout;
}

/** One rule that applied to a call, and what it saw. */
export interface AppliedRule {
  /** Its id; of a rule without one, the reason that it gave. */
  readonly rule?: string;
  readonly reason?: string;
  readonly outcome: "allow" | "confirm" | "deny";
  /** Without secrets. */
  readonly facts?: JsonObject;
  /** It only noted this. */
  readonly observe?: boolean;
}

/** The rules of one policy that applied to a call. */
export interface PolicyNote {
  /** The version of a policy that has one; its text is stored under it. */
  readonly version?: string;
  readonly rules: readonly AppliedRule[];
}

/** Which of a question's requirements an approval fills, and which of its places. */
export interface VoteSlot {
  readonly requirement: number;
  readonly place: number;
}

/** One person's answer to a question. */
export interface Vote {
  readonly confirmed: boolean;
  readonly by: Principal;
  /** The person behind the login: one person has one vote. */
  readonly person: string;
  /** Fixed when the vote is given. A denial fills none. */
  readonly slot?: VoteSlot;
  /** For whom it was given, and by which delegation; without it, for the voter. */
  readonly delegated?: { readonly from: string; readonly delegation: string };
  readonly via: string;
  readonly at: number;
  readonly reason?: string;
  readonly payload?: JsonValue;
  /** Amended arguments. */
  readonly args?: JsonObject;
  /** The digest of the amended arguments as they were sent, if parsing changed them: the same again is the same vote. */
  readonly sentDigest?: string;
  /** What the voter grants beside this call. */
  readonly grant?: GrantLimits;
  /** An HMAC over the question, the call and everything above except the texts, if the engine has a secret. */
  readonly mac?: string;
}

/** People who may fill in for some requirements of a question from `at` on, by the ledger's clock. */
export interface Escalation {
  readonly at: number;
  readonly to: Approvers;
  /** The policy's name of the group, if it is one. */
  readonly group?: string;
  /** Which requirements, by their index: those of the rule that escalates. */
  readonly fills: readonly number[];
  /** People were told. */
  readonly reached: boolean;
}

/** Somebody opened an open question. */
export interface Sighting {
  readonly by: Pick<Principal, "id" | "kind" | "authenticated">;
  /** The person behind the login: one person is noted once. */
  readonly person: string;
  readonly via: string;
  readonly at: number;
}

/** One question to a person about a call; `round` counts a tool's own questions. */
export interface ConfirmationRecord {
  readonly id: string;
  readonly call: string;
  readonly round: number;
  readonly session: string;
  readonly app: string;
  readonly agent: string;
  readonly path: readonly string[];
  readonly user: string;
  readonly tool: string;
  /** Everyone who counts as having asked. */
  readonly requesters: readonly string[];
  /** Every one of these must be met. */
  readonly requirements: readonly Requirement[];
  /**
   * Which rules applied to the arguments that its approver put in the place of those that were asked about. Which applied
   * when it was asked is in the journal.
   */
  readonly policy?: readonly PolicyNote[];
  readonly invocation: string;
  readonly argsDigest: string;
  readonly shown: Shown;
  readonly shownVersion: number;
  readonly status: ConfirmationStatus;
  readonly requestedAt: number;
  /** The span that asked, as a W3C `traceparent`. */
  readonly traceparent?: string;
  readonly expiresAt?: number;
  /** One of each person who has voted. The last one decided, once the question is approved or denied. */
  readonly votes: readonly Vote[];
  /** How many denials are needed to deny; 1 if absent. */
  readonly denials?: number;
  /** The most that an approval may grant for further calls; absent if nothing. */
  readonly grants?: GrantLimits;
  /** With `grants`: the rules and gates that ask. A grant is only for calls about which nothing else asks. */
  readonly askedBy?: readonly string[];
  /** A link in a mail may decide it without a login. */
  readonly byMail?: true;
  /** The channels that are told of it; all if absent. */
  readonly notify?: readonly string[];
  /** When people are reminded, and whether that was done; in the order of time. */
  readonly reminders?: readonly { readonly at: number; readonly sent: boolean }[];
  /** Who may fill in from when on; in the order of time. */
  readonly escalations?: readonly Escalation[];
  /** Who has opened it while it was open, in the order of time. */
  readonly seen?: readonly Sighting[];
  /** An HMAC over who must approve what and until when, if the engine has a secret. */
  readonly mac?: string;
  /** Why it was withdrawn. */
  readonly withdrawal?: string;
}
