import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A process of its own that runs one of the scripts beside this file. */
export interface Child extends AsyncDisposable {
  send(message: object): void;
  /** The next message, or an error when the process ends without one. */
  next<T>(): Promise<T>;
  /** The exit code. */
  readonly ended: Promise<number | null>;
}

export function startChild(script: string, ...args: readonly string[]): Child {
  const process = fork(fileURLToPath(new URL(script, import.meta.url)), args, {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    // None of the test runner's own.
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const ended = once(process, "exit").then(([code]) => code as number | null);
  return {
    ended,
    send: (message) => process.send(message),
    next: <T>() => nextMessage<T>(process, ended, script),
    async [Symbol.asyncDispose]() {
      process.kill("SIGKILL");
      await ended;
    },
  };
}

async function nextMessage<T>(process: ChildProcess, ended: Promise<unknown>, script: string): Promise<T> {
  const message = once(process, "message").then(([value]) => value as T);
  const failure = ended.then((code): never => {
    throw new Error(`${script} ended with ${String(code)} and said nothing`);
  });
  return Promise.race([message, failure]);
}
