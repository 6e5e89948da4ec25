import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";

const TAIL_BYTES = 3_000;
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"] as const;
/** A terminal sends these to every process in its foreground, the command included. */
const FROM_KEYBOARD: ReadonlySet<string> = new Set(["SIGINT", "SIGQUIT"]);

/** A command line, as its words. No shell looks at it. */
export interface CommandLine {
  readonly argv: readonly string[];
  readonly cwd: string;
}

/** How a command ended. */
export interface CommandEnd {
  /** For a shell: the command's own, 128 and the signal's number, 126 or 127 if it could not be started. */
  readonly exitCode: number;
  /** In words; undefined if it ended with 0. */
  readonly failure?: string;
  /** The last of what it printed. */
  readonly output: string;
}

/** Runs a command with this process's environment and input. Its output is passed on; signals are passed to it. */
export async function runCommand({ argv, cwd }: CommandLine): Promise<CommandEnd> {
  const [file = "", ...args] = argv;
  let child: ChildProcess;
  try {
    child = spawn(file, args, { cwd, stdio: ["inherit", "pipe", "pipe"] });
  } catch (error) {
    return notStarted(error as NodeJS.ErrnoException);
  }
  const tail = new Tail();
  const forget = forwardSignals(child);
  passOn(child, tail);
  try {
    return await new Promise((resolve) => {
      child.on("error", (error: NodeJS.ErrnoException) => {
        // What has started goes on, for example if it may not be sent a signal.
        if (child.pid === undefined) resolve(notStarted(error));
      });
      child.on("close", (code, signal) => resolve(ended(code, signal, tail.text)));
    });
  } finally {
    forget();
  }
}

function ended(code: number | null, signal: NodeJS.Signals | null, output: string): CommandEnd {
  if (signal !== null)
    return {
      exitCode: 128 + constants.signals[signal],
      failure: `The command was ended by ${signal}.`,
      output,
    };
  const exitCode = code ?? 1;
  return exitCode === 0
    ? { exitCode, output }
    : { exitCode, failure: `The command exited with code ${exitCode}.`, output };
}

function notStarted({ code, message }: NodeJS.ErrnoException): CommandEnd {
  const failure = `The command could not be started: ${message}.`;
  return { exitCode: code === "ENOENT" ? 127 : 126, failure, output: "" };
}

function passOn({ stdout, stderr }: ChildProcess, tail: Tail): void {
  for (const [from, to] of [
    [stdout, process.stdout],
    [stderr, process.stderr],
  ] as const) {
    from?.on("data", (chunk: Buffer) => tail.add(chunk));
    from?.pipe(to, { end: false });
    // `countersign exec … | head`: the command is told, as if it were alone; this process still has to report.
    to.removeAllListeners("error").on("error", () => from?.destroy());
  }
}

function forwardSignals(child: ChildProcess): () => void {
  const listeners = FORWARDED.map((signal) => {
    const listener = (): void => {
      if (!process.stdin.isTTY || !FROM_KEYBOARD.has(signal)) child.kill(signal);
    };
    process.on(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners) process.off(signal, listener);
  };
}

/** The last bytes of a stream. */
class Tail {
  #bytes = Buffer.alloc(0);

  add(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-TAIL_BYTES);
  }

  get text(): string {
    return this.#bytes.toString("utf8");
  }
}
