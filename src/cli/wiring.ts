import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { createEngine } from "../create-engine.ts";
import type { Engine, EngineOptions, Principal } from "../engine/index.ts";
import { toPrincipal } from "../engine/index.ts";
import { CountersignError } from "../protocol/index.ts";
import type { Invocation } from "./command.ts";

const DEFAULT_URL = "sqlite:countersign.db";
const DEFAULT_FILE = "countersign.db";

/** The demo's ledger in the working directory. */
export const DEMO_FILE = "countersign-demo.db";

/** The `via` that decisions made here are recorded with. */
export const VIA = "cli";

/** The ledger's URL: from the flag, else from the environment, else the default. */
export function ledgerUrl({ flags, env }: Invocation, usual: string = DEFAULT_URL): string {
  return flags.text("db") ?? (env["COUNTERSIGN_DB"] || usual);
}

/** The URL of the same ledger past a connection pooler, for processes that wait for others' changes. */
export function listenUrl({ env }: Pick<Invocation, "env">): { readonly listenUrl?: string } {
  const url = env["COUNTERSIGN_LISTEN_URL"];
  return url ? { listenUrl: url } : {};
}

/**
 * Opens the ledger for one command, with an engine that hosts nothing: approved calls run where their app is hosted. A
 * missing file is not created, because an empty ledger would give wrong answers.
 */
export async function withEngine<T>(
  invocation: Invocation,
  use: (engine: Engine) => Promise<T>,
  options: Pick<EngineOptions, "policy"> = {},
): Promise<T> {
  const url = ledgerUrl(invocation);
  const file = fileOf(url);
  if (file !== undefined && !existsSync(file)) {
    const advice = existsSync(DEMO_FILE)
      ? `for the demo, use --db sqlite:${DEMO_FILE}`
      : "choose one with --db sqlite:FILE or COUNTERSIGN_DB, or create one with `countersign serve`, `countersign demo` or `countersign migrate`";
    throw new CountersignError("ledger-unreachable", `There is no ledger at "${file}"; ${advice}.`, {
      details: { path: file },
    });
  }
  const engine = await openEngine(url, options);
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

/** Does the ledger outlive the process? */
export function isPersistent(url: string): boolean {
  return !/^(memory:|sqlite:(\/\/)?:memory:$)/.test(url);
}

/** Opens the ledger, or creates it. The secret is `COUNTERSIGN_SECRET`. */
export async function openEngine(
  url: string,
  options: Pick<EngineOptions, "maxResultBytes" | "policy"> = {},
): Promise<Engine> {
  return createEngine({ ...options, ledger: url });
}

/** The OS user of this process. Not authenticated, because no password was checked. */
export function localPrincipal(): Principal {
  return toPrincipal({ id: `local:${userName()}`, kind: "local" });
}

/** The name of the OS user. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user need not have a name.
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}

/** The file of a SQLite ledger; undefined for any other. */
export function fileOf(url: string): string | undefined {
  const [, path] = /^sqlite:(?:\/\/)?(.*)$/s.exec(url) ?? [];
  return path === undefined || path === ":memory:" ? undefined : path || DEFAULT_FILE;
}

/**
 * A command line that works where this process was started, with the same ledger. In a clone it starts with `npm start
 * --`, with an installed package `npx countersign`.
 */
export function commandLineFor(invocation: Invocation, usual?: string): (words: string) => string {
  const url = ledgerUrl(invocation, usual);
  const isUsual = url === DEFAULT_URL || (!invocation.flags.has("db") && usual === undefined);
  const db = isUsual ? "" : ` --db ${shellWord(url)}`;
  return (words) => `  ${import.meta.url.endsWith(".ts") ? "npm start --" : "npx countersign"} ${words}${db}`;
}

/** The text as one word of a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
