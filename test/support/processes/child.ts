import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { ROOT } from "../../../scripts/command.ts";
import { COMPILE_CACHE } from "./compile-cache.ts";

/** One JSON line between a test and a program that it started. */
export interface Line {
  readonly type: string;
}

/** How a process came to its end. */
export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildOptions {
  /** Put before `node`: a tracer, for instance. */
  readonly under?: readonly string[];
  readonly args?: readonly string[];
}

interface Waiter<L> {
  readonly matches: (line: L) => boolean;
  readonly resolve: (line: L) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A real Node process that runs one of our programs. It talks in JSON lines on its standard output, written
 * synchronously, so that whatever it said before it was killed has been said.
 */
export class Child<L extends Line = Line> {
  readonly process: ChildProcess;
  /** Resolves when the process is gone and everything it said has been read. */
  readonly ended: Promise<End>;
  readonly #unread: L[] = [];
  readonly #waiters = new Set<Waiter<L>>();
  readonly #listeners = new Set<(line: L) => void>();
  #complaints = "";
  #end: End | undefined;

  constructor(program: URL, { args = [], under = [] }: ChildOptions = {}) {
    const [command = process.execPath, ...rest] = [...under, process.execPath, bundled(program), ...args];
    this.process = spawn(command, rest, {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE, NODE_OPTIONS: "" },
    });
    const { stdin, stdout, stderr } = this.process;
    // A process that was killed does not read any more; that is what these tests are about.
    stdin?.on("error", () => {});
    stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#complaints += text;
    });
    if (stdout !== null) createInterface({ input: stdout }).on("line", (line) => this.#onLine(line));
    this.ended = new Promise((resolve) => {
      this.process.once("close", (code, signal) => resolve(this.#onEnd({ code, signal })));
      // Not even started.
      this.process.once("error", (error) => {
        this.#complaints += error.message;
        resolve(this.#onEnd({ code: null, signal: null }));
      });
    });
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** What it wrote to its standard error. */
  get complaints(): string {
    return this.#complaints;
  }

  /** Called with every line from now on, also with those that nobody waits for. */
  onLine(listener: (line: L) => void): void {
    this.#listeners.add(listener);
  }

  /** The next line of this type that nobody has taken yet. Rejects if the process ends without one. */
  line<T extends L["type"]>(
    type: T,
    matches: (line: Extract<L, { type: T }>) => boolean = () => true,
  ): Promise<Extract<L, { type: T }>> {
    type Wanted = Extract<L, { type: T }>;
    const wanted = (line: L): boolean => line.type === type && matches(line as Wanted);
    const found = this.#unread.findIndex(wanted);
    if (found >= 0) return Promise.resolve(this.#unread.splice(found, 1)[0] as Wanted);
    if (this.#end !== undefined) return Promise.reject(this.#gone(type));
    return new Promise<Wanted>((resolve, reject) => {
      const waiter: Waiter<L> = { matches: wanted, resolve: (line) => resolve(line as Wanted), reject };
      this.#waiters.add(waiter);
      this.ended.then(
        () => this.#waiters.delete(waiter) && reject(this.#gone(type)),
        () => {},
      );
    });
  }

  send(message: unknown): void {
    this.process.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  async kill(): Promise<End> {
    this.signal("SIGKILL");
    return this.ended;
  }

  #onLine(text: string): void {
    // The last line of a killed process may be cut off.
    const line = parse(text) as L | undefined;
    if (line === undefined) return;
    for (const listener of this.#listeners) listener(line);
    for (const waiter of this.#waiters) {
      if (!waiter.matches(line)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(line);
      return;
    }
    this.#unread.push(line);
  }

  #onEnd(end: End): End {
    this.#end = end;
    return end;
  }

  #gone(type: string): Error {
    const { code, signal } = this.#end ?? {};
    return new Error(
      `The process ended (code ${code}, signal ${signal}) without saying "${type}".\n${this.#complaints}`,
    );
  }
}

/** The bundled program where there is one. Projects that start few processes have none. */
function bundled(program: URL): string {
  const source = fileURLToPath(program);
  const folder = inject("bundle") as string | undefined;
  if (folder === undefined) return source;
  const file = join(folder, relative(ROOT, source).replace(/\.ts$/, ".js"));
  return existsSync(file) ? file : source;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
