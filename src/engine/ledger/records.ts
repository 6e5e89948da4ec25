import type { JsonObject, JsonValue, ToolConfirmation } from "../../protocol/index.ts";
import type { Approvers, Principal, Requirement } from "../people/index.ts";
import type { GrantLimits, GrantRecord, StoredGrantUse } from "./grant-record.ts";

/** A conversation, and the unit of serialisation: every change in it moves `version` by one. */
export interface SessionRecord {
  readonly key: string;
  readonly app: string;
  readonly user: string;
  readonly id: string;
  readonly version: number;
  readonly nextSeq: number;
  /** How many confirmations are open: what the flood limit compares with, without counting. */
  readonly open: number;
  /** How many frames wait for somebody to take their next step: what a step that ends looks at, without a search. */
  readonly ready: number;
  /** How much its events take: what the session's limit compares with, without reading them. */
  readonly bytes: number;
  readonly chain: ChainHead;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt?: number;
  /** Grants for further calls of the session. */
  readonly grants?: readonly GrantRecord[];
}

/** The last line of a session's log. */
export interface ChainHead {
  readonly n: number;
  readonly hash: string;
}

/** Who sent a message, as they were known then. */
export type Asker = Pick<Principal, "id" | "kind" | "authenticated"> & Partial<Pick<Principal, "roles">>;

/** one rule that applied to a call, and what it saw. */
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
  /** Of a policy with an identity; its text is stored under it. */
  readonly version?: string;
  readonly rules: readonly AppliedRule[];
}

export type FrameStatus = "ready" | "stepping" | "waiting" | "done" | "failed" | "cancelled";
export type FrameKind = "llm" | "sequential" | "parallel" | "loop" | "remote";

/**
 * One activation of one agent, with its current turn. Nothing of a run lives only in memory: a process that
 * finds this row and the calls it names can go on.
 */
export interface FrameRecord {
  /** Begins with `<session key>.`, as a call's does. */
  readonly id: string;
  readonly session: string;
  readonly app: string;
  readonly invocation: string;
  readonly parentFrame?: string;
  readonly parentCall?: string;
  readonly kind: FrameKind;
  readonly agent: string;
  readonly path: readonly string[];
  readonly branch?: string;
  /** Who asked, if others than the session's user did; every frame of a run acts for them. */
  readonly requesters?: readonly string[];
  /** Who sent the message that the run answers, as they were known then. */
  readonly asker?: Asker;
  readonly cursor: JsonValue;
  readonly status: FrameStatus;
  /** Counts model steps; with the frame's id it names a turn. */
  readonly turn: number;
  /** Ids of the current turn's calls, in the model's order. */
  readonly calls: readonly string[];
  /** How many of them have no answer yet. */
  readonly open: number;
  readonly owner?: string;
  readonly output?: JsonValue;
  /** How often in a row a process was lost during its step. */
  readonly lost?: number;
}

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
  /** What parsing gives is not JSON, so the body's arguments are parsed from `args` when it is entered. */
  readonly unparsed: boolean;
  readonly argsDigest: string;
  /** Of a caller's call: the digest of what the model sent, before it was parsed, if the caller has seen it. */
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
  /** Of a caller's call: what the program calls the model's turn that made it. */
  readonly callerTurn?: string;
  /** That the call needed nobody when it was made; without it, only an approval lets it start. */
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

/** Which of a question's requirements an approval fills, and which of its places. */
export interface VoteSlot {
  readonly requirement: number;
  readonly place: number;
}

/** One person's word on a question. */
export interface Vote {
  readonly confirmed: boolean;
  readonly by: Principal;
  /** Whoever is behind the login: one person has one vote. */
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
  /** Of the amended arguments as they were sent, where parsing changed them: the same again is the same vote. */
  readonly sentDigest?: string;
  /** What the voter grants beside this call. */
  readonly grant?: GrantLimits;
  /** Over the question, the call and everything above but the texts, when the engine has a secret. */
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
  /** Whoever is behind the login: one person is noted once. */
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
  /** Over who must approve what and until when, when the engine has a secret. */
  readonly mac?: string;
  /** Why it was withdrawn. */
  readonly withdrawal?: string;
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

/** What an erasure leaves of a session's calls and confirmations: ids, statuses, digests, who decided and when. */
export interface Remains {
  readonly calls: readonly CallRecord[];
  readonly confirmations: readonly ConfirmationRecord[];
}

/**
 * One line of the log: everything that one commit says has happened. Its hash ties it to the line before it in its session.
 */
export interface LogRow {
  /** Position in the whole log, in the order of commits. */
  readonly seq: number;
  readonly session: string;
  /** Counts the lines of one session from 1: the session's version after the commit. */
  readonly n: number;
  readonly at: number;
  /** The kinds of its records, in order. They stay when the body is erased. */
  readonly kinds: readonly string[];
  /** Of the body. */
  readonly digest: string;
  readonly hash: string;
  /** How many events the session has with this line. */
  readonly events: number;
  /** Its records and events as JSON, see `rowBody`. Null once erased; the digest stays, so the chain still verifies. */
  readonly body: string | null;
}

/**
 * One thing that happened, as stored in the log. The audit journal, the live feed and the outbox are all read from it.
 */
export interface JournalRecord {
  /** Position in the whole journal, in the order of commits. Positions increase; they are not consecutive. */
  readonly seq: number;
  readonly stream: string;
  /** Position in its session's journal. Positions increase; they are not consecutive. */
  readonly n: number;
  readonly at: number;
  readonly kind: string;
  /** Of the line of the log that it is in. */
  readonly hash: string;
  /** Null once erased. */
  readonly body: JsonValue;
}

/** A seal over all lines of the log up to `lastSeq`. */
export interface CheckpointRecord {
  readonly k: number;
  readonly lastSeq: number;
  readonly count: number;
  readonly root: string;
  readonly hash: string;
  readonly at: number;
}
