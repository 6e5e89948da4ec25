import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { redact } from "../common/index.ts";
import type { CallRecord, CardLayout, ConfirmationRecord, Vote } from "../ledger/index.ts";
import { nextCall, nextConfirmation, type ShownStatus, shownStatus } from "../lifecycle/index.ts";
import { type Approvers, mayDecide, mayWithdraw, type Principal } from "../people/index.ts";

/** A confirmation as everyone outside the engine sees it: question, decision and what became of the call. */
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
  /** Everyone who counts as having asked. */
  readonly requesters: readonly string[];
  readonly session: string;
  readonly invocation: string;
  readonly tool: string;
  /** MCP server or remote agent. */
  readonly source?: string;
  /** With declared secrets redacted. */
  readonly args: JsonObject;
  readonly digest: string;
  readonly hint: string;
  readonly payload?: JsonValue;
  readonly schema?: JsonObject;
  readonly amendable?: true | readonly string[];
  /** JSON Schema of the arguments, where they may be amended. */
  readonly argsSchema?: JsonObject;
  /** How the tool wants its card laid out. */
  readonly layout?: CardLayout;
  /** Running it twice does no harm; without that, what an approval starts cannot be started again. */
  readonly repeatable: boolean;
  /** The tool itself put the question while running, in its own words. */
  readonly askedByTool?: boolean;
  /** On a denial the tool words its own answer to the model. */
  readonly onDenied?: "invoke";
  /** Counts the questions about one call. */
  readonly round: number;
  /** The name of a question that the tool itself put while running. */
  readonly question?: string;
  /** What made the call need a person. */
  readonly why: readonly string[];
  readonly approvers: Approvers;
  /** Times are ISO 8601. */
  readonly requestedAt: string;
  readonly expiresAt?: string;
  readonly decision?: ConfirmationDecision;
  readonly execution?: { readonly startedAt: string; readonly endedAt?: string; readonly attempt: number };
  readonly result?: JsonValue;
  /** Long values were cut to their beginning: what is decided on is what reading it by its id gives. */
  readonly truncated?: true;
  /** Why it was withdrawn. */
  readonly withdrawal?: string;
  /** What the one who looks may do now. */
  readonly can: { readonly decide: boolean; readonly amend: boolean; readonly cancel: boolean };
  readonly version: number;
}

/** Who decided, how, when, and by which way in (`via`). */
export interface ConfirmationDecision {
  readonly confirmed: boolean;
  readonly by: Pick<Principal, "id" | "kind" | "authenticated" | "onBehalfOf">;
  readonly via: string;
  readonly at: string;
  readonly reason?: string;
  readonly payload?: JsonValue;
  readonly args?: JsonObject;
}

export interface ConfirmationSubject {
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
  readonly session: { readonly id: string };
  /** Long values of it were cut. */
  readonly truncated?: true;
}

/** Shows a confirmation to somebody; without one, nothing `can` be done. */
export function toConfirmation(subject: ConfirmationSubject, viewer?: Principal): Confirmation {
  const { confirmation, call, session } = subject;
  const { shown } = confirmation;
  const vote = confirmation.votes.at(-1);
  return {
    id: confirmation.id,
    callId: call.wireId,
    turn: call.frame === undefined ? call.id : `${call.frame}.${call.turn}`,
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
    digest: confirmation.argsDigest,
    hint: shown.hint,
    ...(shown.payload === undefined ? {} : { payload: shown.payload }),
    ...(shown.schema === undefined ? {} : { schema: shown.schema }),
    ...(shown.amendable === undefined ? {} : { amendable: shown.amendable }),
    ...cardOf(subject),
    round: confirmation.round,
    ...(shown.question === undefined ? {} : { question: shown.question }),
    why: shown.why,
    approvers: confirmation.approvers,
    requestedAt: iso(confirmation.requestedAt),
    ...(confirmation.expiresAt === undefined ? {} : { expiresAt: iso(confirmation.expiresAt) }),
    ...(vote === undefined ? {} : { decision: toDecision(vote, call) }),
    ...executionOf(confirmation, call),
    ...(subject.truncated === undefined ? {} : { truncated: subject.truncated }),
    ...(confirmation.withdrawal === undefined ? {} : { withdrawal: confirmation.withdrawal }),
    can: rightsOf(subject, viewer),
    version: confirmation.shownVersion,
  };
}

/** What a card says of the tool, beside the question. */
function cardOf({
  confirmation: { shown },
  call,
}: ConfirmationSubject): Pick<
  Confirmation,
  "argsSchema" | "layout" | "repeatable" | "askedByTool" | "onDenied"
> {
  return {
    // What is repeated here is handing the decision over; of the call itself nothing is known.
    repeatable: call.repeatable && shown.remote === undefined,
    ...(shown.argsSchema === undefined ? {} : { argsSchema: shown.argsSchema }),
    ...(shown.layout === undefined ? {} : { layout: shown.layout }),
    ...(shown.askedByTool === undefined ? {} : { askedByTool: shown.askedByTool }),
    ...(shown.onDenied === undefined ? {} : { onDenied: shown.onDenied }),
  };
}

function toDecision(vote: Vote, { secrets }: CallRecord): ConfirmationDecision {
  const { id, kind, authenticated, onBehalfOf } = vote.by;
  return {
    confirmed: vote.confirmed,
    by: { id, kind, authenticated, ...(onBehalfOf === undefined ? {} : { onBehalfOf }) },
    via: vote.via,
    at: iso(vote.at),
    ...(vote.reason === undefined ? {} : { reason: vote.reason }),
    ...(vote.payload === undefined ? {} : { payload: vote.payload }),
    ...(vote.args === undefined ? {} : { args: redact(vote.args, secrets) }),
  };
}

// An earlier question of a call that went on to ask others did not run it; only the last one did.
function executionOf(
  confirmation: ConfirmationRecord,
  call: CallRecord,
): Pick<Confirmation, "execution" | "result"> {
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
    ...(call.result === undefined ? {} : { result: call.result }),
  };
}

/** What somebody may do with a confirmation as it stands. */
export function rightsOf(
  { confirmation, call }: Pick<ConfirmationSubject, "confirmation" | "call">,
  viewer: Principal | undefined,
): Confirmation["can"] {
  if (viewer === undefined) return { decide: false, amend: false, cancel: false };
  const open = confirmation.status === "requested";
  const decide = open && mayDecide(confirmation, viewer);
  const withdrawable =
    nextConfirmation(confirmation.status, "withdraw") !== undefined &&
    nextCall(call.status, "cancel") !== undefined;
  return {
    decide,
    amend: decide && confirmation.shown.amendable !== undefined,
    cancel: withdrawable && mayWithdraw(confirmation, viewer),
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
