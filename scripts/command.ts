import { spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the repository, without a slash at its end. */
export const ROOT: string = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** What a finished command left. */
export interface Finished {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to run a command. */
export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Show the output as it comes instead of keeping it. */
  readonly show?: boolean;
  /** Stopped, and counted as failed, after this long. */
  readonly timeoutMs?: number;
}

/** Runs a command with the repository's own tools first on the PATH, and without input. */
export function command(name: string, args: readonly string[], options: CommandOptions = {}): Finished {
  const env = { ...process.env, ...options.env };
  const { status, signal, error, stdout, stderr } = spawnSync(name, args, {
    cwd: options.cwd ?? ROOT,
    env: { ...env, PATH: [`${ROOT}/node_modules/.bin`, env.PATH].join(delimiter) },
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: options.show === true ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
    ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs }),
  });
  const ended = error === undefined ? "" : `${name}: ${error.message}\n`;
  const stopped = signal === null ? "" : `${name} was ended by ${signal}\n`;
  return { status: status ?? 1, stdout: stdout ?? "", stderr: `${stderr ?? ""}${ended}${stopped}` };
}
