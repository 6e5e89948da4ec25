import {
  type ConfirmationWithCall,
  type DecisionInput,
  type Engine,
  isAnybody,
  mayDecide,
  type Principal,
} from "../../engine/index.ts";
import type { ErrorCode } from "../../protocol/index.ts";
import { refused } from "../messages/index.ts";

/** The `via` of decisions that come over A2A. */
export const VIA = "a2a";

/** What a client may do here, beside deciding. */
export type Use = "run" | "read";

const SCOPES: Readonly<Record<Use, readonly string[]>> = { run: ["run"], read: ["read", "run"] };

/** Throws `forbidden` if the caller lacks the scope. */
export function checkUse(principal: Principal, use: Use): void {
  if (SCOPES[use].some((scope) => principal.scopes.includes(scope))) return;
  throw refused("forbidden", `${principal.id} does not have the scope "${use}".`);
}

interface Complaint {
  readonly code: ErrorCode;
  readonly message: string;
}

/**
 * Why a caller may not decide over A2A at all; undefined if they may. An agent never may. Without logins, only this
 * machine is answered, and its user may decide; otherwise it needs the option `decisions`, a login and the scope
 * `decide`.
 */
export function closedTo(principal: Principal, decisions: boolean): Complaint | undefined {
  if (principal.kind === "agent") return { code: "forbidden", message: "An agent may not decide." };
  if (!decisions && !isAnybody(principal)) {
    return {
      code: "forbidden",
      message: "This server does not accept decisions over A2A. Decide in its inbox.",
    };
  }
  const isKnown = principal.authenticated || isAnybody(principal);
  if (!isKnown || !principal.scopes.includes("decide")) {
    return { code: "forbidden", message: `${principal.id} does not have the scope "decide".` };
  }
  return undefined;
}

/** Journals that somebody tried to decide these and was refused. */
export async function noteRefusals(
  engine: Engine,
  items: readonly Pick<ConfirmationWithCall, "confirmation">[],
  { by, code }: { readonly by: Principal; readonly code: ErrorCode },
): Promise<void> {
  for (const { confirmation } of items) {
    await engine.decisions.noteRefusal(
      { confirmation: confirmation.id },
      { code, what: "decide" },
      { by, via: VIA },
    );
  }
}

/** Why a decision would be refused, checked before the message is accepted; undefined if it would not. */
export async function complaintAbout(
  decision: DecisionInput,
  { confirmation, call }: ConfirmationWithCall,
  {
    engine,
    principal,
    now,
  }: { readonly engine: Engine; readonly principal: Principal; readonly now: number },
): Promise<Complaint | undefined> {
  const { id, expiresAt } = confirmation;
  if (!mayDecide(confirmation, principal, await engine.counting())) {
    return { code: "not-an-approver", message: `${principal.id} may not decide ${id}. Nothing was decided.` };
  }
  if (expiresAt !== undefined && expiresAt <= now) {
    return { code: "expired", message: `The deadline of ${id} has passed. Nothing was decided.` };
  }
  const stale = engine.decisions.staleness(confirmation, decision);
  if (stale !== undefined) return { code: "stale-version", message: `${id}: ${stale} Nothing was decided.` };
  const { confirmed, payload } = decision;
  const judged = confirmed
    ? await engine.decisions.judgePayload({ confirmation, call }, payload)
    : { ok: true as const };
  if (judged.ok) return undefined;
  return {
    code: "payload-mismatch",
    message: `The answer to ${id} is invalid (${judged.field}): ${judged.message}. Nothing was decided.`,
  };
}
