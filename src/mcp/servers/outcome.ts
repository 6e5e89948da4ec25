import { ProtocolError, SdkError, SdkHttpError } from "@modelcontextprotocol/client";

const BEFORE_SENDING: ReadonlySet<string> = new Set([
  "NOT_CONNECTED",
  "CAPABILITY_NOT_SUPPORTED",
  "NOT_INITIALIZED",
]);

/**
 * Does this error leave open whether the tool ran? An answer of the server does not, nor does a request that was
 * turned away or never sent. A connection that broke, a time-out, a fault inside the server do.
 */
export function leavesOpen(error: unknown): boolean {
  if (error instanceof ProtocolError) return false;
  if (error instanceof SdkHttpError) return error.status >= 500 || error.status === 408;
  if (error instanceof SdkError) return !BEFORE_SENDING.has(error.code);
  return true;
}

/**
 * Does the server no longer know the session, so that nothing was done and a new one is needed? The protocol says 404;
 * many say 400 and name the session.
 */
export function isLostSession(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  return error.status === 404 || (error.status === 400 && /session/i.test(error.message));
}
