/** Longer than any line that we write: what is longer is nothing of ours. */
const MOST_LINE_CHARACTERS = 256 * 1024 * 1024;

/** The lines of a text in UTF-8. Rejects what is none, and a line that nobody wrote. */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let begun: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
    begun.push(first);
    length += first.length;
    for (const next of others) {
      yield begun.join("");
      begun = [next];
      length = next.length;
    }
    if (length > MOST_LINE_CHARACTERS) throw new Error("it has a line that is too long");
  }
  const rest = begun.join("") + decoder.decode();
  if (rest !== "") yield rest;
}
