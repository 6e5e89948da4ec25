const SHORTEST_SECRET = 3;
const HIDDEN = "[redacted]";

/**
 * The text with all secrets hidden, also if they overlap. All are searched in the original text: replacing one after
 * the other would find secrets such as "act" inside "[redacted]".
 */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  // How many secrets begin, less how many end, at each place.
  const turns = new Int32Array(text.length + 1);
  for (const secret of new Set(secrets)) {
    if (secret.length < SHORTEST_SECRET) continue;
    for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1)) {
      turns[at] = (turns[at] ?? 0) + 1;
      turns[at + secret.length] = (turns[at + secret.length] ?? 0) - 1;
    }
  }
  let shown = "";
  let open = 0;
  let start = 0;
  for (const [at, turn] of turns.entries()) {
    if (turn === 0) continue;
    if (open === 0) shown += text.slice(start, at) + HIDDEN;
    open += turn;
    if (open === 0) start = at;
  }
  return shown + text.slice(start);
}
