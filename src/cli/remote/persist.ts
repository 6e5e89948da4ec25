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
  /**
   * Asked whenever the server says that the tenant is suspended: true to send it again later, however often that was done.
   * For reports on what has run: their loss would be the loss of an outcome. Left out, it is a refusal.
   */
  readonly waitsForResumption?: () => boolean;
}

/**
 * Sends a request that may be repeated, again if the server cannot be reached or is busy. Throws the last error, and
 * every refusal at once.
 */
export async function persist<T>(
  send: (signal: AbortSignal) => Promise<T>,
  { tries, requestMs = REQUEST_MS, waitsForResumption = () => false }: Persistence,
): Promise<T> {
  let tried = 0;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await send(AbortSignal.timeout(requestMs));
    } catch (error) {
      if (!isSuspended(error) || !waitsForResumption()) {
        tried += 1;
        if (tried >= tries || !mayPass(error)) throw error;
      }
      await pause(pauseMs);
    }
  }
}

function isSuspended(error: unknown): boolean {
  return error instanceof CountersignProblem && error.code === "suspended";
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
