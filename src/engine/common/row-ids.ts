/** What clients of the ADK expect of the id of a request for confirmation. */
const CONFIRMATION_PREFIX = "adk-";
/** How long the part of a confirmation's id is that nobody can guess. */
const RANDOM_LENGTH = 26;

/** The session that a call, a frame or a confirmation belongs to: their ids say it. */
export function sessionOf(id: string): string {
  if (id.startsWith(CONFIRMATION_PREFIX)) return id.slice(CONFIRMATION_PREFIX.length, -RANDOM_LENGTH);
  const end = id.indexOf(".");
  return end < 0 ? id : id.slice(0, end);
}

/** The id of a question: letters and digits behind the prefix, as clients may expect. */
export function confirmationId(session: string, random: string): string {
  return `${confirmationPrefix(session)}${random}`;
}

/** How the ids of a session's questions begin. */
export function confirmationPrefix(session: string): string {
  return `${CONFIRMATION_PREFIX}${session}`;
}
