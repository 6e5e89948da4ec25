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
  const { notice, is, ...rest } = parse(text);
  if (typeof notice !== "string") return undefined;
  if (is === "test") return { is, about: "test", notice, place: "#/notifications" };
  return is === "digest" ? digestOf(notice, rest) : questionOf({ notice, is, ...rest });
}

function digestOf(notice: string, { count, waiting }: Members): PushMessage | undefined {
  if (typeof count !== "number" || !Array.isArray(waiting)) return undefined;
  const ids = waiting.map(String);
  return { is: "digest", about: notice, notice, place: "#/", waiting: { count, ids } };
}

function questionOf({ notice, confirmation, call, is }: Members): PushMessage | undefined {
  if (typeof notice !== "string" || (is !== "requested" && is !== "unknown" && is !== "over"))
    return undefined;
  if (typeof confirmation === "string") {
    const place = `#/confirmations/${encodeURIComponent(confirmation)}`;
    return { is, about: confirmation, notice, place };
  }
  return typeof call === "string" ? { is, about: call, notice, place: "#/unknown" } : undefined;
}

interface Members {
  readonly [member: string]: unknown;
}

function parse(text: string): Members {
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
