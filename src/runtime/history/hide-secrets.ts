const SHORTEST_SECRET = 3;
const HIDDEN = "[redacted]";

/**
 * The text with all secrets hidden, also if they overlap. All are searched in the original text: replacing one after
 * the other would find secrets such as "act" inside "[redacted]". Of a longer text only the first `most` characters are
 * told, without any part of a secret that begins there.
 */
export function hideSecrets(text: string, secrets: readonly string[], most: number = text.length): string {
  const end = Math.min(text.length, most);
  // How many secrets begin, less how many end, at each place.
  const turns = new Int32Array(end + 1);
  for (const secret of new Set(secrets)) {
    if (secret.length < SHORTEST_SECRET || secret.length > text.length) continue;
    for (const at of placesOf(secret, text.slice(0, end + secret.length - 1))) {
      const over = Math.min(at + secret.length, end);
      turns[at] = (turns[at] ?? 0) + 1;
      turns[over] = (turns[over] ?? 0) - 1;
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
  return shown + text.slice(start, end);
}

/**
 * Where a word is in a text. Takes time in proportion to both (Knuth, Morris, Pratt): who chose them may have chosen "aa…a" twice, and
 * looking at each place anew would then block the process.
 */
function placesOf(word: string, text: string): readonly number[] {
  const shorter = new Int32Array(word.length);
  const places: number[] = [];
  // How much of the word has been read, after one more letter.
  const next = (read: number, letter: number): number => {
    let length = read;
    while (length > 0 && word.charCodeAt(length) !== letter) length = shorter[length - 1] ?? 0;
    return word.charCodeAt(length) === letter ? length + 1 : length;
  };
  for (let at = 1, read = 0; at < word.length; at += 1) {
    read = next(read, word.charCodeAt(at));
    shorter[at] = read;
  }
  for (let at = 0, read = 0; at < text.length; at += 1) {
    read = next(read, text.charCodeAt(at));
    if (read < word.length) continue;
    places.push(at + 1 - word.length);
    read = shorter[read - 1] ?? 0;
  }
  return places;
}
