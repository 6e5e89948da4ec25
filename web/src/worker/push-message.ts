/** A message of the server, as the push service brought it. It has ids only. */
export interface PushMessage {
  /** Is there something to do? */
  readonly is: "requested" | "unknown" | "over" | "test" | "digest";
  /** The confirmation, or the call; of a digest, its own id. */
  readonly about: string;
  /** The same at every attempt to send it. */
  readonly notice: string;
  /** Where the page shows it. */
  readonly place: string;
  /** What waits, of a digest. */
  readonly waiting?: Waiting;
}

/** How many confirmations wait, and the ids of the first of them. */
export interface Waiting {
  readonly count: number;
  readonly ids: readonly string[];
}

/** Undefined: this is no message of ours, or one of a newer server. */
export function readMessage(text: string): PushMessage | undefined {
  const { notice, confirmation, call, is, count, waiting } = parse(text);
  if (typeof notice === "string" && is === "test")
    return { is, about: "test", notice, place: "#/notifications" };
  if (typeof notice === "string" && is === "digest") {
    if (typeof count !== "number" || !Array.isArray(waiting)) return undefined;
    return { is, about: notice, notice, place: "#/", waiting: { count, ids: waiting.map(String) } };
  }
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

/** What is left of a digest that is shown, after one of its confirmations is over; undefined if that is not in it. */
export function withoutOne(data: unknown, confirmation: string): Waiting | undefined {
  const { waiting } = { ...(data as { readonly waiting?: Waiting } | null) };
  if (waiting === undefined || !waiting.ids.includes(confirmation)) return undefined;
  return { count: waiting.count - 1, ids: waiting.ids.filter((id) => id !== confirmation) };
}
