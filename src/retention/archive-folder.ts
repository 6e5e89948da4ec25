import { randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { access, link, mkdir, readdir, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { ArchiveFile, ArchiveFolder } from "../engine/index.ts";
import { syncFolder } from "../files/index.ts";
import { CountersignError } from "../protocol/index.ts";
import { splitLines } from "./split-lines.ts";

const DIGITS = 6;
const PART = ".part";

/** Archive files in a folder of this machine, which is made if there is none. Only we may read them: they name people. */
export function archiveFolder(path: string): ArchiveFolder {
  const pathOf = (file: ArchiveFile): string => join(path, fileName(file));
  return {
    nameOf: pathOf,
    async read(file) {
      return (await exists(pathOf(file))) ? archiveFileLines(pathOf(file)) : undefined;
    },
    async write(file, lines) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await removeParts(path, file);
      const part = join(path, `${fileName(file)}.${randomBytes(6).toString("hex")}${PART}`);
      try {
        await writeGzip(part, lines);
        return await publish(part, pathOf(file));
      } finally {
        await rm(part, { force: true });
        await syncFolder(path);
      }
    },
  };
}

function fileName({ ledger, file }: ArchiveFile): string {
  return `countersign-${ledger}-${String(file).padStart(DIGITS, "0")}.jsonl.gz`;
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (isCode(error, "ENOENT")) return false;
    throw error;
  }
}

/** What processes left that died while they wrote. */
async function removeParts(path: string, file: ArchiveFile): Promise<void> {
  for (const name of await readdir(path))
    if (name.startsWith(`${fileName(file)}.`) && name.endsWith(PART))
      await rm(join(path, name), { force: true });
}

async function writeGzip(path: string, lines: AsyncIterable<string>): Promise<void> {
  // `flush`: it is on disk when it is closed.
  const file = createWriteStream(path, { flags: "wx", mode: 0o600, flush: true });
  await pipeline(Readable.from(withNewlines(lines)), createGzip(), file);
}

async function* withNewlines(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

/** Gives the file its name, unless another has it: renaming would replace that one. */
async function publish(part: string, path: string): Promise<boolean> {
  try {
    await link(part, path);
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw new CountersignError(
      "invalid-option",
      `The archive cannot be stored as "${path}" (${error instanceof Error ? error.message : String(error)}). Use a folder on a file system with hard links.`,
      { details: { field: "folder" }, cause: error },
    );
  }
  await unlink(part);
  return true;
}

/** The lines of an archive file. Rejects where it is cut off, is not compressed, or has a line that nobody wrote. */
export async function* archiveFileLines(path: string): AsyncGenerator<string> {
  const file = createReadStream(path);
  const unpacked = createGunzip();
  file.on("error", (error) => unpacked.destroy(error));
  file.pipe(unpacked);
  try {
    yield* splitLines(unpacked);
  } finally {
    file.destroy();
    unpacked.destroy();
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
