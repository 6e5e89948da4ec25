import { type ChildProcess, fork } from "node:child_process";
import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";
import type { AgentFile } from "../agents/find-agents.ts";
import type { Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { Output } from "../output.ts";
import { listenForStop, type StopSignal } from "../signals.ts";

const MARK = "COUNTERSIGN_SUPERVISED";
const CODE = /\.([cm]?[jt]s|json|ya?ml)$/;
const UNWATCHED = /(^|[\\/])(node_modules|\.[^\\/]*)([\\/]|$)/;
// An editor writes a file in several steps, and a checkout many files.
const SETTLE_MS = 150;

/** Is this the serving process of `serve --dev`? */
export function isSupervised({ env }: Pick<Invocation, "env">): boolean {
  return env[MARK] !== undefined && process.send !== undefined;
}

/** Tells the supervisor its port, so that the next process uses the same. */
export function reportPort(port: number): void {
  process.send?.({ port });
}

/**
 * Serves in a child process, and in a new one whenever a file of the agents changes. The old one finishes its running
 * calls first; open confirmations are in the ledger. Resolves when this process is asked to stop.
 */
export async function supervise({ env, exitNow }: Invocation, files: readonly AgentFile[]): Promise<number> {
  // The child process prints the rest.
  const output = new Output(process.stderr, env);
  let child: ChildProcess | undefined;
  const stopping = listenForStop((code) => {
    child?.kill("SIGTERM");
    return exitNow(code);
  });
  const changes = new Changes(files.map(({ file }) => dirname(file)));
  let port: number | undefined;
  let stopped: StopSignal | undefined;
  try {
    for (;;) {
      changes.forget();
      const serving = start(env, port, (got) => {
        port = got;
      });
      child = serving;
      const ended = new Promise<number | null>((resolve) => serving.once("exit", (code) => resolve(code)));
      // If the child exits by itself, it could not serve: wait for a change.
      ended.then(
        (code) => {
          if (stopped === undefined && !changes.pending)
            output.line(`Exited with code ${code}. Waiting for a file change.`);
        },
        () => {},
      );
      stopped = await Promise.race([stopping.requested, changes.next()]);
      serving.kill("SIGTERM");
      if (stopped === undefined) output.line("A file changed. Restarting.");
      const code = await ended;
      if (stopped !== undefined) return code ?? EXIT.ok;
    }
  } finally {
    changes.close();
    stopping.forget();
  }
}

// In its own process group, so that Ctrl-C reaches it only once, through us.
function start(
  env: NodeJS.ProcessEnv,
  port: number | undefined,
  onPort: (port: number) => void,
): ChildProcess {
  const [, entry = "", ...args] = process.argv;
  const same = port === undefined ? [] : ["--port", String(port)];
  const child = fork(entry, [...args, ...same], {
    env: { ...env, [MARK]: "1" },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    detached: true,
  });
  child.on("message", (message: { readonly port?: number }) => {
    if (message.port !== undefined) onPort(message.port);
  });
  return child;
}

/** Watches code in some folders; reports one change after they have settled. */
class Changes {
  readonly #watchers: readonly FSWatcher[];
  #timer: NodeJS.Timeout | undefined;
  #changed = Promise.withResolvers<undefined>();
  pending = false;

  constructor(folders: readonly string[]) {
    this.#watchers = [...new Set(folders)].map((folder) =>
      watch(folder, { recursive: true }, (_event, name) => this.#onEvent(name)),
    );
  }

  /** Resolves at the next change. */
  next(): Promise<undefined> {
    return this.#changed.promise;
  }

  /** Ignores changes up to now. */
  forget(): void {
    this.pending = false;
    this.#changed = Promise.withResolvers();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }

  #onEvent(name: string | null): void {
    if (name === null || !CODE.test(name) || UNWATCHED.test(name)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.pending = true;
      this.#changed.resolve(undefined);
    }, SETTLE_MS);
  }
}
