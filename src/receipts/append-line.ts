import type { FileHandle } from "node:fs/promises";
import type { Kept, Receipt } from "../engine/index.ts";
import { appendSafely } from "../files/index.ts";

/** Receipts are for others to read. */
const MODE = 0o644;
/** More than a receipt that is looked for can be away from the end. */
const TAIL_BYTES = 65_536;

/**
 * Appends a receipt as one line to a file that is only ever appended to. It is there once, also if it comes again, and
 * also if a process died while it wrote it.
 */
export async function appendReceipt(path: string, receipt: Receipt): Promise<Kept> {
  const written = await appendSafely(path, MODE, (handle, { size }) => append(handle, size, receipt));
  if (!written.ok || written.value.isInOrder) return written.ok ? { ok: true } : written;
  const warning = `${path} does not end with receipt ${receipt.number - 1}: lines were removed, or it is another file. \`countersign audit verify --receipts\` says more.`;
  return { ok: true, warning };
}

/** Tells whether the receipt is there already or follows the one before it. */
async function append(handle: FileHandle, size: number, receipt: Receipt): Promise<{ isInOrder: boolean }> {
  const line = JSON.stringify(receipt);
  const lines = (await tailOf(handle, size)).split("\n");
  const torn = lines.pop() ?? "";
  if (lines.includes(line)) return { isInOrder: true };
  // What is there of it stays: the file may be one that cannot be cut.
  const rest = line.startsWith(torn) ? line.slice(torn.length) : `\n${line}`;
  await handle.appendFile(`${rest}\n`);
  return { isInOrder: receipt.number === 1 || isFollowed(lines.at(-1), receipt) };
}

/** Is the last line the receipt before this one? */
function isFollowed(last: string | undefined, { follows }: Receipt): boolean {
  return last?.includes(`"signature":"${follows}"`) === true;
}

async function tailOf(handle: FileHandle, size: number): Promise<string> {
  const length = Math.min(size, TAIL_BYTES);
  if (length === 0) return "";
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.toString("utf8", 0, bytesRead);
}
