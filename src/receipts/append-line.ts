import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import type { Kept, Receipt } from "../engine/index.ts";

/** Receipts are for others to read. */
const MODE = 0o644;
/** More than a receipt that is looked for can be away from the end. */
const TAIL_BYTES = 65_536;

/**
 * Appends a receipt as one line to a file that is only ever appended to. It is there once, also if it comes again, and
 * also if a process died while it wrote it.
 */
export async function appendReceipt(path: string, receipt: Receipt): Promise<Kept> {
  try {
    const handle = await open(path, "a+", MODE);
    try {
      return await append(handle, path, receipt);
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { ok: false, reason: `${path} could not be written (${codeOf(error)}).` };
  }
}

async function append(handle: FileHandle, path: string, receipt: Receipt): Promise<Kept> {
  const line = JSON.stringify(receipt);
  const { size } = await handle.stat();
  const lines = (await tailOf(handle, size)).split("\n");
  const torn = lines.pop() ?? "";
  const isThere = lines.includes(line);
  if (!isThere) {
    // What is there of it stays: the file may be one that cannot be cut.
    const rest = line.startsWith(torn) ? line.slice(torn.length) : `\n${line}`;
    await handle.appendFile(`${rest}\n`);
  }
  await handle.sync();
  if (size === 0) await syncFolder(path);
  const { nlink } = await handle.stat();
  if (nlink === 0) return { ok: false, reason: `${path} was removed while it was written.` };
  if (isThere || receipt.number === 1 || isFollowed(lines.at(-1), receipt)) return { ok: true };
  const warning = `${path} does not end with receipt ${receipt.number - 1}: lines were removed, or it is another file. \`countersign audit verify --receipts\` says more.`;
  return { ok: true, warning };
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

// Otherwise a power failure could take the new file's name.
async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "error";
}
