import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Receipt, ReceiptTarget } from "../engine/index.ts";
import { appendReceipt } from "./append-line.ts";

const run = promisify(execFile);

const NOBODY = ["-c", "user.name=countersign", "-c", "user.email=countersign@localhost"];
/** They would lead git to another repository than the one in the folder. */
const LEADS_ELSEWHERE = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"];
const MOST_SHOWN = 300;

/**
 * Commits each receipt into a git working copy, in a file named after the target; pushes only to a remote that was named,
 * and never with force. Nothing else in the working copy is committed.
 */
export function gitTarget(
  name: string,
  {
    folder,
    push,
    timeoutMs,
  }: { readonly folder: string; readonly push?: string; readonly timeoutMs: number },
): ReceiptTarget {
  const file = `${name}.jsonl`;
  return {
    name,
    async keep(receipt, signal) {
      const git = (...args: readonly string[]): Promise<string> =>
        runGit(folder, args, { timeoutMs, signal });
      try {
        // Before anything is written: the folder may be something else.
        await git("rev-parse", "--is-inside-work-tree");
        const kept = await appendReceipt(join(folder, file), receipt);
        if (!kept.ok) return kept;
        await commit(git, file, receipt);
        if (push !== undefined) await git("push", "--quiet", push, "HEAD");
        return kept;
      } catch (error) {
        return { ok: false, reason: `git in ${folder} failed: ${messageOf(error)}` };
      }
    },
  };
}

type Git = (...args: readonly string[]) => Promise<string>;

async function commit(git: Git, file: string, { number, ledger }: Receipt): Promise<void> {
  await git("add", "--", file);
  // A process that died may have committed it.
  if ((await git("status", "--porcelain", "--", file)) === "") return;
  const identity = await git("config", "user.email").then(
    () => [],
    () => NOBODY,
  );
  const message = `Receipt ${number} of ledger ${ledger}`;
  await git(...identity, "commit", "--quiet", "--message", message, "--", file);
}

async function runGit(
  folder: string,
  args: readonly string[],
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
): Promise<string> {
  const others = Object.entries(process.env).filter(([name]) => !LEADS_ELSEWHERE.includes(name));
  const { stdout } = await run("git", ["-C", folder, ...args], {
    env: { ...Object.fromEntries(others), GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" },
    timeout: timeoutMs,
    ...(signal === undefined ? {} : { signal }),
  });
  return stdout.trim();
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return "no reason";
  if ("code" in error && error.code === "ENOENT") return "git is not installed.";
  const said = "stderr" in error ? String(error.stderr).trim() : "";
  return (said === "" ? error.message : said).slice(0, MOST_SHOWN);
}
