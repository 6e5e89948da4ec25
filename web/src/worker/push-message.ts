/** A message of the server, as the push service brought it. It has ids only. */
export interface PushMessage {
  /** Is there something to do? */
  readonly is: "requested" | "unknown" | "over" | "test";
  /** The confirmation, or the call. */
  readonly about: string;
  /** The same at every attempt to send it. */
  readonly notice: string;
  /** Where the page shows it. */
  readonly place: string;
}

/** Undefined: this is no message of ours, or one of a newer server. */
export function readMessage(text: string): PushMessage | undefined {
  const { notice, confirmation, call, is } = parse(text);
  if (typeof notice === "string" && is === "test")
    return { is, about: "test", notice, place: "#/notifications" };
  if (typeof notice !== "string" || (is !== "requested" && is !== "unknown" && is !== "over"))
    return undefined;
  if (typeof confirmation === "string") {
    const place = `#/confirmations/${encodeURIComponent(confirmation)}`;
    return { is, about: confirmation, notice, place };
  }
  return typeof call === "string" ? { is, about: call, notice, place: "#/unknown" } : undefined;
}

function parse(text: string): { readonly [member: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
