import { createReadStream } from "node:fs";
import { splitLines } from "../retention/index.ts";

/** The lines of a file with receipts. Rejects where it cannot be read. */
export async function* receiptFileLines(path: string): AsyncGenerator<string> {
  yield* splitLines(createReadStream(path));
}
