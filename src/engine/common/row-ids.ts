/** What clients of the ADK expect of the id of a request for confirmation. */
const CONFIRMATION_PREFIX = "adk-";
/** The length of the ids that the engine makes. In other ids, a dot separates the parts. */
const ID_LENGTH = 26;

/** The session that a call, a frame or a confirmation belongs to: their ids say it. */
export function sessionOf(id: string): string {
  const isConfirmation = id.startsWith(CONFIRMATION_PREFIX);
  const start = isConfirmation ? CONFIRMATION_PREFIX.length : 0;
  const end = id.indexOf(".");
  if (end >= 0) return id.slice(start, end);
  return isConfirmation ? id.slice(start, -ID_LENGTH) : id;
}

/** The id of a question: it says its session, and nobody can guess it. */
export function confirmationId(session: string, random: string): string {
  return `${confirmationPrefix(session)}${random.length === ID_LENGTH ? "" : "."}${random}`;
}

/** How the ids of a session's questions begin. */
export function confirmationPrefix(session: string): string {
  return `${CONFIRMATION_PREFIX}${session}`;
}
