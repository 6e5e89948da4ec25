/**
 * The bounds, both exclusive, within which a session's calls lie: ids are `<session>.<wire id>`, and `/` is the
 * character after `.`. Another session's calls can lie between only if its key begins with this one's and a
 * dot, so a statement that uses this compares the session too.
 */
export function callRange(session: string): readonly [after: string, before: string] {
  return [`${session}.`, `${session}/`];
}
