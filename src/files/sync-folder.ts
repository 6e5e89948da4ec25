import { open } from "node:fs/promises";

/** Writes a folder's names to disk: otherwise a power failure could take the name of a new file. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
