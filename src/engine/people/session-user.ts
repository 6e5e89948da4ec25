/** So that no caller's thread is a Runner's session. */
const CALLER_PREFIX = "caller:";

/** The user of a session that is a caller's thread. */
export function userOfCaller(by: string): string {
  return `${CALLER_PREFIX}${by}`;
}

/** Who is behind the user of a session: for a caller's thread, the caller. */
export function userOfSession(user: string): string {
  return user.startsWith(CALLER_PREFIX) ? user.slice(CALLER_PREFIX.length) : user;
}
