import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Options, query, type SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { ClaudeGate, DeferredToolUse } from "../../../src/adapters/claude-agent-sdk/index.ts";
import { type ModelServer, startModel, type Turn } from "../../e2e/coding-agents/model-server.ts";

/** Where a session is: a copy of what Claude Code has stored, so that a test can go on from it several times. */
export interface Stored {
  readonly session: string;
  readonly folder: string;
}

/** How a run ended. */
export interface Ended {
  readonly stored: Stored;
  readonly deferred: DeferredToolUse | undefined;
  /** What the model was told of each tool use, by its id. */
  readonly told: Record<string, string>;
  readonly messages: readonly SDKMessage[];
}

const folders: string[] = [];
process.on("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "countersign-claude-"));
  folders.push(folder);
  return folder;
}

/** A copy of a stored session, with this change in whatever Claude Code has written of the conversation. */
export function editStored({ session, folder }: Stored, change: (text: string) => string): Stored {
  const copy = newFolder();
  cpSync(folder, copy, { recursive: true });
  for (const file of globSync("**/*.jsonl", { cwd: copy })) {
    const path = join(copy, file);
    writeFileSync(path, change(readFileSync(path, "utf8")));
  }
  return { session, folder: copy };
}

/** One run of the SDK's own program, with a model on this machine that takes these turns. */
export async function runClaude(
  gate: ClaudeGate,
  given: {
    readonly turns: readonly Turn[];
    readonly from?: Stored;
    /** Without one, a paused run goes on. */
    readonly text?: string;
    /** Goes on in the session's own folder, and not in a copy of it. */
    readonly inPlace?: true;
    readonly options: Options;
  },
): Promise<Ended> {
  const { turns, from, text, inPlace, options } = given;
  const folder = inPlace === true && from !== undefined ? from.folder : newFolder();
  if (from !== undefined && folder !== from.folder) cpSync(from.folder, folder, { recursive: true });
  const model = await startModel(turns);
  const turn = gate.turn(text);
  const messages: SDKMessage[] = [];
  try {
    const env = {
      ...process.env,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CONFIG_DIR: folder,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    };
    const resume = from === undefined ? {} : { resume: from.session };
    const run = query({
      prompt: turn.prompt,
      options: { hooks: gate.hooks, cwd: tmpdir(), settingSources: [], env, ...resume, ...options },
    });
    for await (const message of run) {
      messages.push(message);
      turn.see(message);
    }
    const session = messages.find((message) => message.type === "result")?.session_id ?? "";
    return { stored: { session, folder }, deferred: turn.deferred, told: toldBy(model), messages };
  } finally {
    await model.close();
  }
}

function toldBy({ toolResults }: ModelServer): Record<string, string> {
  return Object.fromEntries(toolResults.map(({ id, text }) => [id, textIn(JSON.parse(text))]));
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? (content as { readonly text?: string }[]) : [];
  return parts.map(({ text = "" }) => text).join("\n");
}
