import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { CountersignError } from "../../../protocol/index.ts";
import type { Command, Invocation } from "../../command.ts";
import { parseDuration } from "../../duration.ts";
import { HOOK_PROTOCOLS, type HookAnswer, type HookProtocol } from "../../hooks/agents.ts";
import { seekApproval } from "../../hooks/approval.ts";
import { inert } from "../../output.ts";
import { toldError } from "../../remote/persist.ts";
import { openRemoteGate, REMOTE_FLAGS } from "../../remote/remote-gate.ts";

/** Every agent takes this for "the tool must not run", and standard error for the reason; other codes let it run. */
const BLOCKED = 2;
const GO_ON = 0;
const SPARE_MS = 10_000;
const USUAL_APP = "coding-agents";

export const hook: Command = {
  usage: `${[...HOOK_PROTOCOLS.keys()].join("|")} [--url URL] [--wait TIME] [--trust-policy]`,
  about:
    "Put this into the hooks of Claude Code (PreToolUse), Codex (PreToolUse) or Gemini CLI (BeforeTool). It asks a running " +
    "server, whose policy lets the tool use pass, asks a person, or denies it. Approval only: the agent runs the tool " +
    "itself, and Countersign does not know whether it did; for commands that run at most once, use `countersign exec`. " +
    "A tool use that the policy does not ask about is left to the agent's own permissions, or allowed with " +
    "--trust-policy. Any error blocks the tool, with exit code 2; so does a server without a policy. But an agent stops a hook that takes too long, " +
    "and then lets the tool run: after 600 s (Claude Code, Codex) or 60 s (Gemini CLI), unless the hook's own timeout says " +
    "otherwise. --wait must be shorter. For Claude Code, also set onFailure to block.",
  words: { names: ["<agent>"] },
  flags: {
    wait: {
      type: "string",
      value: "TIME",
      help: "how long to wait for a decision (9m; gemini-cli: 45s). Then the tool use is denied",
    },
    defer: {
      type: "boolean",
      help: "claude-code with -p: when the wait is over, end the run at the open question; --resume continues it",
    },
    ignore: {
      type: "string",
      value: "A,B",
      help: "members of the hook's input that a newer agent sends and that do not matter",
    },
    ...REMOTE_FLAGS,
  },
  examples: [
    { line: "hook claude-code --url http://localhost:8000", says: "the command of a PreToolUse hook" },
    {
      line: "hook claude-code --trust-policy --token-file ~/.countersign-token",
      says: "the policy alone decides what is asked",
    },
    {
      line: "hook claude-code --wait 1m --defer",
      says: "a run of `claude -p` ends at a question that takes longer, and continues with --resume",
    },
    { line: "hook gemini-cli --wait 9m", says: "with a timeout of 600000 in the hook's settings" },
  ],
  async run(invocation) {
    // Any other exit code than 2 would let the tool run.
    const block = (why: unknown): never => {
      process.stderr.write(`${inert(toldError(why))}\n`);
      return invocation.exitNow(BLOCKED);
    };
    process.on("uncaughtException", block);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.on(signal, () => block(new Error("The hook was stopped before a decision.")));
    process.stdout.removeAllListeners("error").on("error", block);
    try {
      const answer = await judge(invocation);
      if (answer !== undefined) await print(JSON.stringify(answer));
      return invocation.exitNow(GO_ON);
    } catch (error) {
      return block(error);
    }
  },
};

async function judge(invocation: Invocation): Promise<HookAnswer> {
  const { words, flags, stdin } = invocation;
  const [agent = ""] = words;
  const protocol = protocolOf(agent);
  const wait = flags.text("wait");
  const waitMs = wait === undefined ? protocol.waitMs : parseDuration(wait, "wait");
  const staysOpen = flags.has("defer");
  if (staysOpen && protocol.defers !== true)
    throw new CountersignError(
      "invalid-option",
      `--defer is not for ${agent}, which cannot end at a question.`,
    );
  const gate = openRemoteGate(invocation, USUAL_APP);
  const ignored = flags.text("ignore")?.split(",") ?? [];
  const decide = async (): Promise<HookAnswer> => {
    const use = protocol.read(await text(stdin), ignored);
    const approval = await seekApproval(gate, use, {
      agent,
      agentTitle: protocol.title,
      alwaysAsk: false,
      waitMs,
      staysOpen,
    });
    return protocol.answer(approval, use);
  };
  const late = async (): Promise<never> => {
    await pause(waitMs + SPARE_MS);
    throw new Error("The hook took too long. The tool must not run.");
  };
  return Promise.race([decide(), late()]);
}

function protocolOf(agent: string): HookProtocol {
  const protocol = HOOK_PROTOCOLS.get(agent);
  if (protocol !== undefined) return protocol;
  const known = [...HOOK_PROTOCOLS.keys()].join(", ");
  throw new CountersignError("malformed-request", `There is no hook for "${agent}". There are ${known}.`);
}

function print(answer: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${answer}\n`, (error) => (error ? reject(error) : resolve()));
  });
}
