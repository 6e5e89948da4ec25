import type { Notice } from "../channel.ts";

/** The body of a webhook. */
export interface WebhookMessage {
  readonly type: Notice["type"];
  /** When it happened, ISO 8601. */
  readonly timestamp: string;
  /** Grows in the order in which things happened; messages may arrive in another. */
  readonly sequence: number;
  readonly data: { readonly [member: string]: unknown };
}

/**
 * What a recipient is told: the confirmation as the API shows it, and where to decide it. What came back from the
 * tool, and what a person filled in, is only in the API; what "can" be done depends on who looks.
 */
export function toMessage({ type, at, sequence, about, link }: Notice): WebhookMessage {
  const url = link === undefined ? {} : { url: link };
  return {
    type,
    timestamp: new Date(at).toISOString(),
    sequence,
    data: { ...withoutPrivate(about), ...url },
  };
}

function withoutPrivate(about: Notice["about"]): object {
  if (!("id" in about)) return about;
  const { can: _can, result: _result, decision, ...shown } = about;
  if (decision === undefined) return shown;
  const { payload: _payload, ...told } = decision;
  return { ...shown, decision: told };
}
