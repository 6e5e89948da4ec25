/**
 * The bounds, both exclusive, within which a session's calls and frames lie: their ids begin with `<session>.`,
 * and `/` is the character after `.`. Another session's can lie between only if its key begins with this one's and a
 * dot, so a statement that uses this compares the session too.
 */
export function callRange(session: string): readonly [after: string, before: string] {
  return [`${session}.`, `${session}/`];
}
