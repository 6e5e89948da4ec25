import { constants } from "node:fs";
import { access, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { appendSafely, codeOf } from "../../files/index.ts";
import type { Batch, Target, Written } from "./target.ts";

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

  async write({ lines, file }: Batch): Promise<Written> {
    const written = await appendSafely(this.#path, OWNER_ONLY, async (handle, { ino, size }) => {
      // A process that died while it wrote left the beginning of a line.
      const close = (await isTorn(handle, size)) ? "\n" : "";
      const text = `${close}${lines.join("\n")}\n`;
      await handle.appendFile(text);
      // Not as the file is now: somebody may have cut it since.
      return { inode: String(ino), before: size, after: size + Buffer.byteLength(text) };
    });
    if (!written.ok) return written;
    const { inode, before, after } = written.value;
    const note = { inode, size: after };
    const isCut = file !== undefined && file.inode === inode && before < file.size;
    if (!isCut) return { ok: true, file: note };
    const warning =
      `${this.#path} has ${before} bytes and had ${file.size}: somebody cut it. Later records follow; those that ` +
      "were cut off are not written again. Give the export a new name to write the whole journal again.";
    return { ok: true, file: note, warning };
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
}

async function isTorn(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== NEWLINE;
}
