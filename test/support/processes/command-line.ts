import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { createEngine, type Engine, type Policy, type PolicySource } from "../../../src/index.ts";
import { COMPILE_CACHE } from "./compile-cache.ts";

/** The command's script. */
export const ENTRY: string = join(inject("bundle"), "countersign.mjs");

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
  run(args: readonly string[], env?: NodeJS.ProcessEnv, input?: string): Ran;
  /** Starts the command without a terminal; it is killed after the test if it still runs. */
  start(args: readonly string[], env?: NodeJS.ProcessEnv): Started;
  /** Writes a file, and its folders where they are missing. */
  write(path: string, text: string): void;
  /** What a file holds; nothing where there is none. */
  read(path: string): string;
  /** The command's output as JSON. */
  json(args: readonly string[]): unknown;
  /** Opens the ledger in this process, for as long as `use` takes. */
  withEngine<T>(use: (engine: Engine) => Promise<T>, policy?: Policy | PolicySource): Promise<T>;
  /** Starts the command in a pseudo-terminal. */
  terminal(args: readonly string[], env?: NodeJS.ProcessEnv): Terminal;
}

/** A command that runs. */
export interface Started {
  readonly pid: number;
  /** Resolves to what was printed so far, both outputs together, once the text has been. */
  until(text: string | RegExp): Promise<string>;
  signal(signal: NodeJS.Signals): void;
  ended(): Promise<{
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
    readonly printed: string;
  }>;
}

/** A command that runs in a pseudo-terminal. */
export interface Terminal {
  /** Resolves to everything printed so far once the text has been. */
  until(text: string | RegExp): Promise<string>;
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
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}, input = ""): Ran => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [ENTRY, ...args], {
      cwd: path,
      env: { ...ENV, ...env },
      encoding: "utf8",
      input,
      timeout: 30_000,
    });
    return { code: status, stdout, stderr };
  };
  return {
    path,
    ledger,
    run,
    json: (args) => JSON.parse(run([...args, "--json"]).stdout) as unknown,
    withEngine: async (use, policy) => {
      const engine = await createEngine({ ledger, ...(policy === undefined ? {} : { policy }) });
      try {
        return await use(engine);
      } finally {
        await engine.close();
      }
    },
    start: (args, env = {}) => startProcess(path, args, env),
    write: (name, text) => {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), text);
    },
    read: (name) => (existsSync(join(path, name)) ? readFileSync(join(path, name), "utf8") : ""),
    terminal: (args, env = {}) => openTerminal(path, args, env),
  };
}

function startProcess(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv): Started {
  const child = spawn(process.execPath, [ENTRY, ...args], { cwd, env: { ...ENV, ...env } });
  const printed = new Printed(child);
  return {
    pid: child.pid ?? 0,
    until: (text) => printed.until(text),
    signal: (signal) => {
      child.kill(signal);
    },
    ended: async () => {
      const code = await printed.closed;
      return { code, signal: child.signalCode, printed: printed.text };
    },
  };
}

/** What a process prints. It is killed after the test. */
class Printed {
  readonly closed: Promise<number | null>;
  text = "";
  readonly #watchers = new Set<() => void>();

  constructor(child: ChildProcessWithoutNullStreams) {
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    const add = (chunk: Buffer): void => {
      this.text += chunk.toString();
      for (const watcher of this.#watchers) watcher();
    };
    child.stdout.on("data", add);
    child.stderr.on("data", add);
    this.closed = new Promise((resolve, reject) => {
      child.on("close", resolve);
      child.on("error", reject);
    });
  }

  until(text: string | RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (typeof text === "string" ? !this.text.includes(text) : !text.test(this.text)) return;
        this.#watchers.delete(look);
        resolve(this.text);
      };
      this.#watchers.add(look);
      this.closed.then(() => reject(new Error(`ended without "${String(text)}":\n${this.text}`)), reject);
      look();
    });
  }
}

function openTerminal(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv): Terminal {
  // In place of the shell: one that a Ctrl-C reached would tell of that instead of the command's own end.
  const line = `exec ${[process.execPath, ENTRY, ...args].map((word) => `'${word}'`).join(" ")}`;
  // From util-linux, on every Linux: gives the command a terminal and takes its exit code.
  const child: ChildProcessWithoutNullStreams = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd,
    env: { ...ENV, ...env },
  });
  const printed = new Printed(child);
  return {
    until: (text) => printed.until(text),
    type: (text) => {
      child.stdin.write(text);
    },
    ended: async () => {
      const code = await printed.closed;
      return { code, screen: printed.text };
    },
  };
}
