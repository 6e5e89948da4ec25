import { setTimeout as pause } from "node:timers/promises";
import { CountersignProblem } from "../../client/index.ts";

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
const REQUEST_MS = 10_000;
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** How long to persist. */
export interface Persistence {
  readonly tries: number;
  /** How long the server may take for one request. */
  readonly requestMs?: number;
}

/**
 * Sends a request that may be repeated, again if the server cannot be reached or is busy. Throws the last error, and
 * every refusal at once.
 */
export async function persist<T>(
  send: (signal: AbortSignal) => Promise<T>,
  { tries, requestMs = REQUEST_MS }: Persistence,
): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await send(AbortSignal.timeout(requestMs));
    } catch (error) {
      if (tried >= tries || !mayPass(error)) throw error;
      await pause(Math.min(FIRST_PAUSE_MS * 2 ** (tried - 1), LONGEST_PAUSE_MS));
    }
  }
}

/** May the same request succeed later? */
export function mayPass(error: unknown): boolean {
  return error instanceof CountersignProblem ? PASSING.has(error.status) : isConnectionError(error);
}

/** What went wrong, in one sentence. */
export function toldError(error: unknown): string {
  if (error instanceof CountersignProblem)
    return `The Countersign server refused: ${error.message}${error.code === undefined ? "" : ` [${error.code}]`}`;
  if (isConnectionError(error)) return `The Countersign server cannot be reached (${causeOf(error)}).`;
  return error instanceof Error ? error.message : String(error);
}

// `fetch` rejects with a TypeError if there is no answer, and with the signal's reason if it takes too long.
function isConnectionError(error: unknown): error is Error {
  return error instanceof TypeError || (error instanceof Error && error.name === "TimeoutError");
}

function causeOf(error: Error): string {
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : error.message;
}
