import { isJsonObject, type JsonObject } from "../../protocol/index.ts";
import { changedMembers, sameJson, unredact, valueDigest } from "../common/index.ts";
import { type Amendment, findTool, type StoredCall } from "../host.ts";
import type { ConfirmationRecord, Shown } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { stricterTerms } from "../questions/index.ts";
import type { DecisionInput, RefusedDecision } from "./decision.ts";

/** The arguments that will run, or why the amended ones cannot. */
export type AmendmentOutcome =
  | {
      readonly ok: true;
      readonly args: JsonObject;
      readonly argsDigest: string;
      /** The question about them, with the stricter terms of the one before and of what rules say about them. */
      readonly asked: ConfirmationRecord;
      /** The digest of what was sent, if parsing changed it. */
      readonly sentDigest?: string;
    }
  | { readonly ok: false; readonly refusal: RefusedDecision };

interface Subject extends StoredCall {
  readonly confirmation: ConfirmationRecord;
  readonly now: number;
}

/**
 * Judges arguments that the approver changed: only allowed fields, gated again as if the model had sent them. Needs the tool, so it works only where the app is hosted.
 */
export async function judgeAmendment(
  parts: EngineParts,
  about: Subject,
  { input }: { readonly input: DecisionInput },
): Promise<AmendmentOutcome> {
  const { call, confirmation } = about;
  const unchanged = { ok: true, args: call.args, argsDigest: call.argsDigest, asked: confirmation } as const;
  if (input.args === undefined) return unchanged;
  const refuse = (code: RefusedDecision["code"], message: string, field?: string): AmendmentOutcome => ({
    ok: false,
    refusal: { ok: false, code, message, confirmation, call, ...(field === undefined ? {} : { field }) },
  });
  const read = readChange(input.args, { call, confirmation });
  if (!read.ok) return refuse("arguments-mismatch", read.message, read.field);
  const { args: sent } = read;
  if (sameJson(sent, call.args)) return unchanged;
  const found = await findTool(parts, call);
  if (!found.here || found.tool?.amend === undefined) {
    return refuse(
      "arguments-mismatch",
      `Arguments can be changed only on a server that runs the app ${call.app}.`,
    );
  }
  const amended = await found.tool.amend(about, sent);
  if (!amended.ok) return refuse(amended.code, told(amended), amended.field);
  const { digestKey } = parts.ledger;
  const argsDigest = valueDigest(digestKey, amended.args);
  const sentDigest = valueDigest(digestKey, sent);
  return {
    ok: true,
    args: amended.args,
    argsDigest,
    asked: { ...stricterOf(confirmation, amended, about.now), argsDigest },
    ...(sentDigest === argsDigest ? {} : { sentDigest }),
  };
}

type Accepted = Extract<Amendment, { ok: true }>;

/** The question about amended arguments, by the stricter terms of both. */
function stricterOf(before: ConfirmationRecord, amended: Accepted, now: number): ConfirmationRecord {
  const { denials: _few, expiresAt: until, escalations: _then, policy: _noted, ...kept } = before;
  const times = [until, amended.expiresInMs === undefined ? undefined : now + amended.expiresInMs];
  const expiresAt = Math.min(...times.filter((time) => time !== undefined));
  return {
    ...kept,
    ...stricterTerms(before, amended, now),
    shown: shownWith(before.shown, amended.shown),
    ...(Number.isFinite(expiresAt) ? { expiresAt } : {}),
    ...(amended.policy === undefined ? {} : { policy: amended.policy }),
  };
}

function shownWith(before: Shown, { hint, why, amendable: now }: Accepted["shown"]): Shown {
  const { amendable: then, argsSchema, ...kept } = before;
  const amendable = inBoth(then, now);
  return {
    ...kept,
    hint,
    why: [...new Set([...before.why, ...why])],
    ...(amendable === undefined ? {} : { amendable }),
    ...(amendable === undefined || argsSchema === undefined ? {} : { argsSchema }),
  };
}

function inBoth(one: Shown["amendable"], other: Shown["amendable"]): Shown["amendable"] {
  if (one === undefined || other === undefined) return undefined;
  if (one === true || other === true) return one === true ? other : one;
  return one.filter((name) => other.includes(name));
}

/** The arguments that were sent, with their secrets, if only allowed fields changed. */
function readChange(
  given: JsonObject,
  { call, confirmation }: Pick<Subject, "call" | "confirmation">,
):
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly field: string; readonly message: string } {
  // Secrets are shown redacted; a redacted value that is sent back is unchanged.
  const sent = unredact(given, call.args, call.secrets);
  if (!sent.ok) {
    const message = `The value [redacted] at ${sent.field} cannot be matched to a secret. Keep lists in the same order and length and change one row, or enter the secret again.`;
    return { ...sent, message };
  }
  const fixed = firstFixedField(confirmation.shown.amendable, call.args, sent.args);
  if (fixed === undefined) return sent;
  return { ok: false, field: fixed, message: `The argument ${fixed} may not be changed.` };
}

function told({ field = "", message }: Extract<Amendment, { ok: false }>): string {
  return field === "" ? message : `The argument ${field} is invalid: ${message}`;
}

function firstFixedField(
  amendable: ConfirmationRecord["shown"]["amendable"],
  before: JsonObject,
  after: JsonObject,
): string | undefined {
  if (!isJsonObject(after)) return "(all)";
  if (amendable === true) return undefined;
  const allowed = new Set(amendable ?? []);
  return changedMembers(before, after).find((field) => !allowed.has(field));
}
