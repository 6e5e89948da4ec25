import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ROOT } from "../../scripts/command.ts";
import { ENTRY, type Ran } from "../support/processes/command-line.ts";
import { COMPILE_CACHE } from "../support/processes/compile-cache.ts";

/** Runs what a page tells an operator to type, in a shell, in one folder. */
export class Operator {
  readonly #folder: string;
  readonly #path: string;

  /** `tools`: folders of further programs. */
  constructor(folder: string, tools: readonly string[] = []) {
    this.#folder = folder;
    const bin = join(folder, "bin");
    mkdirSync(bin);
    const script = join(bin, "countersign");
    writeFileSync(script, `#!/bin/sh\nexec '${process.execPath}' '${ENTRY}' "$@"\n`);
    chmodSync(script, 0o755);
    this.#path = [bin, ...tools, process.env["PATH"]].join(delimiter);
  }

  type(line: string, env: NodeJS.ProcessEnv = {}): Ran {
    const { status, stdout, stderr } = spawnSync("sh", ["-c", line], {
      cwd: this.#folder,
      env: {
        HOME: process.env["HOME"],
        USER: process.env["USER"],
        PATH: this.#path,
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ...env,
      },
      encoding: "utf8",
      timeout: 60_000,
    });
    return { code: status, stdout, stderr };
  }
}

/** The lines of the block that follows a mark in the page on operations. */
export function typedAfter(mark: string): readonly string[] {
  const page = readFileSync(`${ROOT}/docs/operations.md`, "utf8");
  const [, block] = new RegExp(`<!-- ${mark} -->\\s+\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  if (block === undefined) throw new Error(`docs/operations.md has no block after "${mark}".`);
  return block.trim().split("\n");
}
