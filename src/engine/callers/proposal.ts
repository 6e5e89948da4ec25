import { CountersignError, isReservedName, type JsonObject } from "../../protocol/index.ts";
import { flawOfName } from "../common/index.ts";
import { checkAsking } from "../gate/index.ts";
import type { Approvers, Principal } from "../people/index.ts";

/** A call that a program wants to make, and how people are asked about it. */
export interface Proposal {
  readonly by: Principal;
  /** Names the call: the same key of the same caller always means the same call. */
  readonly key: string;
  /** Refused with `unknown-call` unless the key was used before: nobody is asked now. */
  readonly onlyRepeat?: true;
  /** Refused with `key-reused` if the key's call is for another user: it was approved for that one. */
  readonly sameUser?: true;
  readonly app: string;
  /** Default: the app. */
  readonly agent?: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** The conversation that the call belongs to; its open questions are limited together. Default: the key. */
  readonly thread?: string;
  /** Names what the model asked for at once: `onReady` tells when every question of it is answered. Default: the key. */
  readonly turn?: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly schema?: JsonObject;
  /** The caller has parsed the arguments itself. The schema is then only shown, and checked when an approver changes them. */
  readonly parsed?: true;
  /**
   * What the model sent, before it was parsed: it tells the call from others. When the key is repeated with the same, what
   * parsing has added is the stored call's, also if a default is another one each time. If the stored call was made without
   * it, the parsed arguments must be the same.
   */
  readonly sent?: JsonObject;
  /** False: a person is asked only if a policy says so. Default: true. */
  readonly requireConfirmation?: boolean;
  /** Refused unless the engine has a policy: without one, nobody would be asked about anything. */
  readonly requirePolicy?: boolean;
  readonly hint?: string;
  /** Said after the question, also if a policy words that. */
  readonly note?: string;
  /** Default: the people whom a policy requires; else the requester, and if that is an agent, any other logged-in user. */
  readonly approvers?: Approvers;
  readonly expiresInMs?: number;
  readonly amendable?: true | readonly string[];
  /** JSON pointers to arguments that only the caller may see. */
  readonly secrets?: readonly string[];
  /** Safe to run again with the same key: after a lost claim it may be claimed again. */
  readonly idempotent?: boolean;
}

/** Refuses names that no ledger can store, and impossible options. */
export function checkProposal(proposal: Proposal): void {
  const { key, app, agent = app, tool, thread = key, turn = key } = proposal;
  for (const [field, name] of Object.entries({ key, app, agent, tool, thread, turn })) {
    const flaw = name === "" ? "is empty" : flawOfName(name);
    if (flaw !== undefined)
      throw new CountersignError("malformed-request", `The ${field} ${flaw}.`, { details: { field } });
  }
  if (isReservedName(tool))
    throw new CountersignError("reserved-name", `"${tool}" is a reserved name. Choose another tool name.`);
  checkHowAsked(proposal);
  if (proposal.approvers === "requester" && isLoneAgent(proposal)) {
    const message =
      "An agent may not approve its own call. Name other approvers, or the user whom it is for.";
    throw new CountersignError("malformed-request", message, { details: { field: "approvers" } });
  }
}

function isLoneAgent({ by }: Pick<Proposal, "by">): boolean {
  return by.kind === "agent" && by.onBehalfOf === undefined;
}

// Not the host's mistake, but the caller's.
function checkHowAsked(proposal: Proposal): void {
  const { tool, approvers, expiresInMs, amendable, secrets } = proposal;
  try {
    checkAsking(`The call of ${tool}`, {
      ...(approvers === undefined ? {} : { approvers }),
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
      ...(amendable === undefined ? {} : { amendable }),
      ...(secrets === undefined ? {} : { secrets }),
    });
  } catch (error) {
    if (!CountersignError.isInstance(error)) throw error;
    const { option: field = "" } = error.details;
    throw new CountersignError("malformed-request", error.message, { cause: error, details: { field } });
  }
}

/** Everyone who counts as the requester. */
export function requestersOf({ by: { id, onBehalfOf } }: Pick<Proposal, "by">): readonly string[] {
  return onBehalfOf === undefined ? [id] : [id, onBehalfOf];
}

/** Who is asked where a lone agent would be: an agent never decides, so any other known person. */
export function insteadOf(proposal: Pick<Proposal, "by">): Approvers | undefined {
  return isLoneAgent(proposal) ? { notRequester: true } : undefined;
}
