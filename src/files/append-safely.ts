import type { Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "./sync-folder.ts";

/** What came of appending; `reason` is a sentence for people. */
export type Appended<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/**
 * Lets `append` write to a file, which is made with this mode if there is none. It is told what the file was before. On disk
 * when the promise resolves. Not ok if the file cannot be written, or was removed meanwhile.
 */
export async function appendSafely<T>(
  path: string,
  mode: number,
  append: (handle: FileHandle, before: Stats) => Promise<T>,
): Promise<Appended<T>> {
  try {
    const handle = await open(path, "a+", mode);
    try {
      const before = await handle.stat();
      const value = await append(handle, before);
      await handle.sync();
      if (before.size === 0) await syncFolder(dirname(path));
      const { nlink } = await handle.stat();
      if (nlink > 0) return { ok: true, value };
      return { ok: false, reason: `${path} was removed while it was written.` };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { ok: false, reason: `${path} could not be written (${codeOf(error)}).` };
  }
}

/** The code of an error of the file system, for people. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "error";
}
