import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { createEngine, type Engine } from "../../src/index.ts";

/** The command's script. */
export const ENTRY: string = fileURLToPath(new URL("entry.mjs", import.meta.url));
// Most of a start is stripping types; what one test has stripped the others need not.
const COMPILE_CACHE = fileURLToPath(new URL("../../node_modules/.cache/countersign-cli", import.meta.url));

/** What a finished command left. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder of its own to run the command in, removed after the test. */
export interface Folder {
  readonly path: string;
  /** The URL of a ledger in it: `countersign.db`, which commands use by themselves. */
  readonly ledger: string;
  run(args: readonly string[], env?: NodeJS.ProcessEnv): Ran;
  /** The command's output as JSON. */
  json(args: readonly string[]): unknown;
  /** Opens the ledger in this process, for as long as `use` takes. */
  withEngine<T>(use: (engine: Engine) => Promise<T>): Promise<T>;
  /** Starts the command in a pseudo-terminal. */
  terminal(args: readonly string[], env?: NodeJS.ProcessEnv): Terminal;
}

/** A command that runs in a pseudo-terminal. */
export interface Terminal {
  /** Resolves to everything printed so far once the text has been. */
  until(text: string): Promise<string>;
  type(text: string): void;
  /** Resolves to the exit code and all that was printed. */
  ended(): Promise<{ readonly code: number | null; readonly screen: string }>;
}

const ENV: NodeJS.ProcessEnv = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  USER: process.env["USER"],
  TERM: "xterm",
  NODE_COMPILE_CACHE: COMPILE_CACHE,
};

export function makeFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), "countersign-cli-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const ledger = `sqlite:${join(path, "countersign.db")}`;
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Ran => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [ENTRY, ...args], {
      cwd: path,
      env: { ...ENV, ...env },
      encoding: "utf8",
      timeout: 30_000,
    });
    return { code: status, stdout, stderr };
  };
  return {
    path,
    ledger,
    run,
    json: (args) => JSON.parse(run([...args, "--json"]).stdout) as unknown,
    withEngine: async (use) => {
      const engine = await createEngine({ ledger });
      try {
        return await use(engine);
      } finally {
        await engine.close();
      }
    },
    terminal: (args, env = {}) => openTerminal(path, args, env),
  };
}

function openTerminal(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv): Terminal {
  const line = [process.execPath, ENTRY, ...args].map((word) => `'${word}'`).join(" ");
  // From util-linux, on every Linux: gives the command a terminal and takes its exit code.
  const child: ChildProcessWithoutNullStreams = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd,
    env: { ...ENV, ...env },
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let screen = "";
  const watchers = new Set<() => void>();
  child.stdout.on("data", (chunk: Buffer) => {
    screen += chunk.toString();
    for (const watcher of watchers) watcher();
  });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.on("close", resolve);
    child.on("error", reject);
  });
  return {
    until: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!screen.includes(text)) return;
          watchers.delete(look);
          resolve(screen);
        };
        watchers.add(look);
        closed.then(() => reject(new Error(`ended without "${text}":\n${screen}`)), reject);
        look();
      }),
    type: (text) => {
      child.stdin.write(text);
    },
    ended: async () => ({ code: await closed, screen }),
  };
}
