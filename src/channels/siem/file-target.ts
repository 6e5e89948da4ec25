import { constants } from "node:fs";
import { access, type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import type { Batch, FileNote, Target, Written } from "./target.ts";

const NEWLINE = 0x0a;
// Arguments of calls are in it.
const OWNER_ONLY = 0o600;

/**
 * Appends lines to a file. It is opened by its name for every batch, so a file that was renamed by a rotation is
 * followed by a new one.
 */
export class FileTarget implements Target {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async write(batch: Batch): Promise<Written> {
    try {
      const handle = await open(this.#path, "a+", OWNER_ONLY);
      try {
        return await this.#append(handle, batch);
      } finally {
        await handle.close();
      }
    } catch (error) {
      return { ok: false, reason: `${this.#path} could not be written (${codeOf(error)}).` };
    }
  }

  async check(): Promise<readonly string[]> {
    const folder = dirname(this.#path);
    try {
      await access(folder, constants.W_OK);
      return [];
    } catch (error) {
      return [`The folder ${folder} cannot be written (${codeOf(error)}).`];
    }
  }

  async #append(handle: FileHandle, { lines, file }: Batch): Promise<Written> {
    const before = await noteOf(handle);
    // A process that died while it wrote left the beginning of a line.
    const close = (await isTorn(handle, before.size)) ? "\n" : "";
    const text = `${close}${lines.join("\n")}\n`;
    await handle.appendFile(text);
    await handle.sync();
    if (before.size === 0) await syncFolder(this.#path);
    const { nlink } = await handle.stat();
    if (nlink === 0) return { ok: false, reason: `${this.#path} was removed while it was written.` };
    // Not as the file is now: somebody may have cut it since.
    const after = { ...before, size: before.size + Buffer.byteLength(text) };
    const isCut = file !== undefined && file.inode === before.inode && before.size < file.size;
    if (!isCut) return { ok: true, file: after };
    const warning =
      `${this.#path} has ${before.size} bytes and had ${file.size}: somebody cut it. Later records follow; those that ` +
      "were cut off are not written again. Give the export a new name to write the whole journal again.";
    return { ok: true, file: after, warning };
  }
}

async function noteOf(handle: FileHandle): Promise<FileNote> {
  const { ino, size } = await handle.stat();
  return { inode: String(ino), size };
}

async function isTorn(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== NEWLINE;
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
