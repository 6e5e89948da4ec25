import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { redact } from "../common/index.ts";
import {
  type CallRecord,
  type CardLayout,
  type ConfirmationRecord,
  type GrantLimits,
  type Sighting,
  turnOf,
  type Vote,
} from "../ledger/index.ts";
import { nextCall, nextConfirmation, type ShownStatus, shownStatus } from "../lifecycle/index.ts";
import {
  type Approvers,
  type Counting,
  denialsNeeded,
  mayApprove,
  mayDecide,
  mayWithdraw,
  type Principal,
  type Requirement,
  votesFor,
} from "../people/index.ts";

/** A confirmation, as the public API shows it: the question, the decision and the outcome of the call. */
export interface Confirmation {
  readonly id: string;
  readonly callId: string;
  /** Shared by all calls that the model made at once. */
  readonly turn: string;
  readonly status: ShownStatus;
  readonly app: string;
  readonly agent: string;
  /** Agents from the outermost to the one whose tool this is. */
  readonly path: readonly string[];
  readonly user: string;
  /** Everyone who counts as the requester. */
  readonly requesters: readonly string[];
  readonly session: string;
  readonly invocation: string;
  readonly tool: string;
  /** MCP server or remote agent. */
  readonly source?: string;
  /** What runs. With declared secrets redacted. */
  readonly args: JsonObject;
  /** What the model asked for, if an approver changed it. With declared secrets redacted. */
  readonly originalArgs?: JsonObject;
  readonly digest: string;
  readonly hint: string;
  readonly payload?: JsonValue;
  readonly schema?: JsonObject;
  readonly amendable?: true | readonly string[];
  /** JSON Schema of the arguments, where they may be amended. */
  readonly argsSchema?: JsonObject;
  /** How the tool wants its card laid out. */
  readonly layout?: CardLayout;
  /** The call may be repeated after a crash. If false, it is never started twice. */
  readonly repeatable: boolean;
  /** The tool itself asked while running. */
  readonly askedByTool?: boolean;
  /** On a denial the tool words its own answer to the model. */
  readonly onDenied?: "invoke";
  /** Counts the questions about one call. */
  readonly round: number;
  /** The name of a question that the tool itself asked while running. */
  readonly question?: string;
  /** What made the call need a person. */
  readonly why: readonly string[];
  /** Who must approve, and how many have approved. All must be met. */
  readonly requirements: readonly RequirementProgress[];
  /** How many denials are needed to deny. */
  readonly denials: number;
  /** The most that an approval may grant for further calls of this session; absent if nothing. */
  readonly grants?: GrantLimits;
  /** A link in a mail may decide it without a login. */
  readonly byMail?: true;
  /** The channels that are told of it; all if absent. */
  readonly notify?: readonly string[];
  /** When people are reminded. */
  readonly reminders?: readonly string[];
  /** Who may decide in the place of others, from `at` on. `reached`: people were told. */
  readonly escalations?: readonly ConfirmationEscalation[];
  /** The votes so far, or those that decided. */
  readonly votes: readonly ConfirmationVote[];
  /** Who has opened it while it was open, each person once, oldest first. */
  readonly seen?: readonly ConfirmationSighting[];
  /** Times are ISO 8601. */
  readonly requestedAt: string;
  readonly expiresAt?: string;
  readonly decision?: ConfirmationDecision;
  readonly execution?: { readonly startedAt: string; readonly endedAt?: string; readonly attempt: number };
  /** The last settlement of the call by a person. */
  readonly settlement?: ConfirmationSettlement;
  readonly result?: JsonValue;
  /** Long values were truncated. Read the confirmation by its id before you decide. */
  readonly truncated?: true;
  /** Why it was withdrawn. */
  readonly withdrawal?: string;
  /** What the reader may do now. */
  readonly can: {
    readonly decide: boolean;
    readonly amend: boolean;
    readonly cancel: boolean;
    /** They may deny, but not approve: by a delegation they are one person with the requester, who may not approve. */
    readonly onlyDeny?: true;
    /** For whom they would decide, if somebody delegated their votes to them and they have none of their own. */
    readonly for?: string;
  };
  readonly version: number;
}

/** People who may fill in from `at` on. */
export interface ConfirmationEscalation {
  readonly at: string;
  readonly to: Approvers;
  readonly group?: string;
  /** Which of the requirements, by their index. */
  readonly fills: readonly number[];
  readonly reached: boolean;
}

/** A requirement, and how many have approved for it. */
export interface RequirementProgress extends Requirement {
  readonly approved: number;
}

/** Who voted, how, when, and by which way in (`via`). */
export interface ConfirmationVote {
  readonly confirmed: boolean;
  readonly by: Pick<Principal, "id" | "kind" | "authenticated" | "onBehalfOf">;
  /** The person behind the login, where that is another name. */
  readonly person?: string;
  /** For whom they voted, if somebody had delegated their votes to them. */
  readonly for?: string;
  /** Which of the requirements an approval counts for: its place in the list. */
  readonly requirement?: number;
  readonly via: string;
  readonly at: string;
  readonly reason?: string;
  readonly payload?: JsonValue;
  readonly args?: JsonObject;
  /** What was granted with the approval. */
  readonly grant?: GrantLimits;
}

/** Who opened a question, and when. */
export interface ConfirmationSighting {
  readonly by: Pick<Principal, "id" | "kind" | "authenticated">;
  /** The person behind the login, where that is another name. */
  readonly person?: string;
  readonly via: string;
  readonly at: string;
}

/** Who settled an unknown call, when, and how it was sent. `retry`: it was run again. */
export interface ConfirmationSettlement {
  readonly as: "succeeded" | "failed" | "retry";
  /** It did not happen, not even in part. */
  readonly happened?: false;
  /** What it took of its grant was given back. */
  readonly refunded?: true;
  readonly by: Pick<Principal, "id" | "kind" | "authenticated">;
  readonly via: string;
  readonly at: string;
}

/** The vote that decided. */
export type ConfirmationDecision = ConfirmationVote;

export interface ConfirmationSubject {
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
  readonly session: { readonly id: string };
  /** Long values were truncated. */
  readonly truncated?: true;
}

/**
 * Shows a confirmation to a reader; without one, every member of `can` is false. Without `counting` the reader's rights
 * are those of the groups as they were when it was asked, and they vote for nobody else.
 */
export function toConfirmation(
  subject: ConfirmationSubject,
  viewer?: Principal,
  counting?: Partial<Counting>,
): Confirmation {
  const { confirmation, call, session } = subject;
  const { shown } = confirmation;
  const vote = decidingVote(confirmation);
  return {
    id: confirmation.id,
    callId: call.wireId,
    turn: turnOf(call),
    status: shownStatus(confirmation.status, call.status),
    app: confirmation.app,
    agent: confirmation.agent,
    path: confirmation.path,
    user: confirmation.user,
    requesters: confirmation.requesters,
    session: session.id,
    invocation: confirmation.invocation,
    tool: confirmation.tool,
    ...(shown.source === undefined ? {} : { source: shown.source }),
    args: redact(call.args, call.secrets),
    ...(call.originalArgs === undefined ? {} : { originalArgs: redact(call.originalArgs, call.secrets) }),
    digest: confirmation.argsDigest,
    hint: shown.hint,
    ...(shown.payload === undefined ? {} : { payload: shown.payload }),
    ...(shown.schema === undefined ? {} : { schema: shown.schema }),
    ...(shown.amendable === undefined ? {} : { amendable: shown.amendable }),
    ...cardOf(subject),
    round: confirmation.round,
    ...(shown.question === undefined ? {} : { question: shown.question }),
    why: shown.why,
    requirements: confirmation.requirements.map((requirement, place) => ({
      ...requirement,
      approved: confirmation.votes.filter(({ slot }) => slot?.requirement === place).length,
    })),
    denials: denialsNeeded(confirmation),
    ...plansOf(confirmation),
    votes: confirmation.votes.map((one) => toVote(one, call)),
    ...(confirmation.seen === undefined ? {} : { seen: confirmation.seen.map(toSighting) }),
    requestedAt: iso(confirmation.requestedAt),
    ...(confirmation.expiresAt === undefined ? {} : { expiresAt: iso(confirmation.expiresAt) }),
    ...(vote === undefined ? {} : { decision: toVote(vote, call) }),
    ...executionOf(confirmation, call),
    ...(subject.truncated === undefined ? {} : { truncated: subject.truncated }),
    ...(confirmation.withdrawal === undefined ? {} : { withdrawal: confirmation.withdrawal }),
    can: rightsOf(subject, viewer, counting),
    version: confirmation.shownVersion,
  };
}

/** What a card says about the tool, besides the question. */
function cardOf({
  confirmation: { shown },
  call,
}: ConfirmationSubject): Pick<
  Confirmation,
  "argsSchema" | "layout" | "repeatable" | "askedByTool" | "onDenied"
> {
  return {
    // `repeatable` is about sending the decision; nothing is known about the remote call itself.
    repeatable: call.repeatable && shown.remote === undefined,
    ...(shown.argsSchema === undefined ? {} : { argsSchema: shown.argsSchema }),
    ...(shown.layout === undefined ? {} : { layout: shown.layout }),
    ...(shown.askedByTool === undefined ? {} : { askedByTool: shown.askedByTool }),
    ...(shown.onDenied === undefined ? {} : { onDenied: shown.onDenied }),
  };
}

function plansOf({
  grants,
  byMail,
  notify,
  reminders,
  escalations,
}: ConfirmationRecord): Pick<Confirmation, "grants" | "byMail" | "notify" | "reminders" | "escalations"> {
  return {
    ...(grants === undefined ? {} : { grants }),
    ...(byMail === undefined ? {} : { byMail }),
    ...(notify === undefined ? {} : { notify }),
    ...(reminders === undefined ? {} : { reminders: reminders.map(({ at }) => iso(at)) }),
    ...(escalations === undefined
      ? {}
      : { escalations: escalations.map((one) => ({ ...one, at: iso(one.at) })) }),
  };
}

/** The vote that decided the question, if one did: an open, expired or withdrawn one may have votes, too. */
export function decidingVote(confirmation: ConfirmationRecord): Vote | undefined {
  const { status, requirements, votes } = confirmation;
  if (status === "approved" || status === "denied") return votes.at(-1);
  // Approved, and withdrawn before it ran.
  const needed = requirements.reduce((sum, { count }) => sum + count, 0);
  const approvals = votes.filter(({ slot }) => slot !== undefined).length;
  return status === "cancelled" && approvals >= needed ? votes.at(-1) : undefined;
}

function toVote(vote: Vote, { secrets }: CallRecord): ConfirmationVote {
  const { id, kind, authenticated, onBehalfOf } = vote.by;
  return {
    confirmed: vote.confirmed,
    by: { id, kind, authenticated, ...(onBehalfOf === undefined ? {} : { onBehalfOf }) },
    ...(vote.person === id ? {} : { person: vote.person }),
    ...(vote.delegated === undefined ? {} : { for: vote.delegated.from }),
    ...(vote.slot === undefined ? {} : { requirement: vote.slot.requirement }),
    via: vote.via,
    at: iso(vote.at),
    ...(vote.reason === undefined ? {} : { reason: vote.reason }),
    ...(vote.payload === undefined ? {} : { payload: vote.payload }),
    ...(vote.args === undefined ? {} : { args: redact(vote.args, secrets) }),
    ...(vote.grant === undefined ? {} : { grant: vote.grant }),
  };
}

function toSighting({ by, person, via, at }: Sighting): ConfirmationSighting {
  return { by, ...(person === by.id ? {} : { person }), via, at: iso(at) };
}

// If a call had several questions, only the last one ran it.
function executionOf(
  confirmation: ConfirmationRecord,
  call: CallRecord,
): Pick<Confirmation, "execution" | "settlement" | "result"> {
  if (confirmation.status !== "approved" || call.confirmation !== confirmation.id) return {};
  return {
    ...(call.startedAt === undefined
      ? {}
      : {
          execution: {
            startedAt: iso(call.startedAt),
            ...(call.endedAt === undefined ? {} : { endedAt: iso(call.endedAt) }),
            attempt: call.attempt,
          },
        }),
    ...(call.settled === undefined ? {} : { settlement: { ...call.settled, at: iso(call.settled.at) } }),
    ...(call.result === undefined ? {} : { result: call.result }),
  };
}

/** What somebody may do with a confirmation now. */
export function rightsOf(
  { confirmation, call }: Pick<ConfirmationSubject, "confirmation" | "call">,
  viewer: Principal | undefined,
  counting?: Partial<Counting>,
): Confirmation["can"] {
  if (viewer === undefined) return { decide: false, amend: false, cancel: false };
  const open = confirmation.status === "requested";
  const decide = open && mayDecide(confirmation, viewer, counting);
  const withdrawable =
    nextConfirmation(confirmation.status, "withdraw") !== undefined &&
    nextCall(call.status, "cancel") !== undefined;
  const delegator = decide ? votesFor(confirmation, viewer, counting ?? {}) : undefined;
  const approve = decide && mayApprove(confirmation, viewer, counting);
  return {
    decide,
    amend: approve && confirmation.shown.amendable !== undefined,
    cancel: withdrawable && mayWithdraw(confirmation, viewer, counting),
    ...(decide && !approve ? { onlyDeny: true } : {}),
    ...(delegator === undefined ? {} : { for: delegator }),
  };
}

let last = { ms: 0, text: new Date(0).toISOString() };

// Most times of one confirmation are of the same moment.
function iso(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
