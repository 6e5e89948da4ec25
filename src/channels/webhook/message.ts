import type { Notice } from "../channel.ts";

/** The body of a webhook. */
export interface WebhookMessage {
  readonly type: Notice["type"];
  /** When it happened, ISO 8601. */
  readonly timestamp: string;
  /** Increases in the order of events; messages may arrive in a different order. */
  readonly sequence: number;
  readonly data: { readonly [member: string]: unknown };
}

/**
 * The message: the confirmation as the API shows it, its link, and the value that an answer must have. The tool's result and a person's payload are only in
 * the API; `can` depends on the reader.
 */
export function toMessage({ type, at, sequence, about, link }: Notice, answerTo?: string): WebhookMessage {
  const url = link === undefined ? {} : { url: link };
  return {
    type,
    timestamp: new Date(at).toISOString(),
    sequence,
    data: { ...withoutPrivate(about), ...url, ...(answerTo === undefined ? {} : { answerTo }) },
  };
}

function withoutPrivate(about: Notice["about"]): object {
  if (!("id" in about)) return about;
  const { can: _can, result: _result, decision, votes, ...shown } = about;
  return {
    ...shown,
    votes: votes.map(withoutPayload),
    ...(decision === undefined ? {} : { decision: withoutPayload(decision) }),
  };
}

function withoutPayload<Said extends { readonly payload?: unknown }>(said: Said): Omit<Said, "payload"> {
  const { payload: _payload, ...told } = said;
  return told;
}
