import { appendFileSync, existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { basename, join } from "node:path";

/** The file that the demo's agent wants to change, as it is at first. */
export const PRICES: { readonly name: string; readonly text: string } = {
  name: "prices.md",
  text: "# Prices\n\n- Starter: 9 EUR a month\n- Team: 49 EUR a month\n- Company: ask us\n",
};

/** Adds a line to a file. */
export function append(name: string, line: string): void {
  appendFileSync(fileOf(name), `${line}\n`);
}

/** Replaces one passage. Throws if the file does not have it, or has it more than once. */
export function replaceIn(name: string, before: string, after: string): void {
  const file = fileOf(name);
  if (name === PRICES.name && !existsSync(file)) writeFileSync(file, PRICES.text);
  const parts = readFileSync(file, "utf8").split(before);
  if (parts.length !== 2) throw new Error(`${name} has this passage ${parts.length - 1} times, not once`);
  writeFileSync(file, parts.join(after));
}

function fileOf(name: string): string {
  const file = join(folder(), name);
  if (basename(name) !== name || lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Error(`${name} is outside the scratch folder`);
  return file;
}

// FILES_FOLDER names it. Default: a folder of this user under the system's temporary folder.
function folder(): string {
  const { uid } = userInfo();
  const path = process.env["FILES_FOLDER"] ?? join(tmpdir(), `countersign-files-${uid}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // Other users can write to the temporary folder too, and could have created this folder first.
  if (lstatSync(path).uid !== uid && uid !== -1) throw new Error(`${path} belongs to somebody else`);
  return path;
}
