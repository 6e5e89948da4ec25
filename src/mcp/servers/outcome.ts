import { ProtocolError, SdkError, SdkHttpError } from "@modelcontextprotocol/client";

const BEFORE_SENDING: ReadonlySet<string> = new Set([
  "NOT_CONNECTED",
  "CAPABILITY_NOT_SUPPORTED",
  "NOT_INITIALIZED",
]);

/**
 * Does this error leave it unknown whether the tool ran? Not if the server answered, or if the request was refused or
 * never sent. But a broken connection, a timeout or an internal error of the server does.
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
