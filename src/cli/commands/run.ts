import { randomUUID } from "node:crypto";
import { createEngine, type Runner } from "../../index.ts";
import { BREAK_GLASS_FLAG, loginOf, VIA_BREAK_GLASS } from "../acting-here.ts";
import { hostAgent, loadAgentAt } from "../agents/host-agent.ts";
import type { LoadedAgent } from "../agents/load-agents.ts";
import { Chat } from "../chat/chat.ts";
import { Conversation } from "../chat/conversation.ts";
import { Lines } from "../chat/lines.ts";
import { jsonScreen, TextScreen } from "../chat/screen.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../command.ts";
import { inert, Output } from "../output.ts";
import { followedPolicy } from "../policy/followed-policy.ts";
import { POLICY_FLAG } from "../policy/open-policy.ts";
import { commandLineFor, isPersistent, ledgerUrl, shellWord, userName, VIA } from "../wiring.ts";

export const run: Command = {
  usage: "<agent> [--session NAME] [--user NAME] [--db URL]",
  about:
    "<agent> is a folder with an agent.ts that exports `rootAgent` or an agent.yaml, or the file itself. A call that needs approval " +
    "is shown with its arguments: approve it, deny it or leave it for later. If a tool asks for more than " +
    "yes or no, you are asked for each field. Everything is stored in the ledger: --session continues a conversation, and what " +
    "waits can also be decided elsewhere, for example in the inbox. Piped input is read line by line; a line after a question " +
    "is its answer. At the end of the input, open questions stay open.",
  words: { names: ["<agent>"] },
  flags: {
    session: {
      type: "string",
      value: "NAME",
      help: "continue this conversation, or start it with this name",
    },
    user: { type: "string", value: "NAME", help: "who is talking (your user name)" },
    ...BREAK_GLASS_FLAG,
    ...POLICY_FLAG,
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "run agents/finance", says: "starts a conversation, stored in countersign.db" },
    { line: "run agents/finance --session chat-1f3a9c02", says: "continues an earlier one" },
    {
      line: "run agents/hr --db memory: <<< 'I want 5 days off'",
      says: "sends one message and prints what waits",
    },
  ],
  async run(invocation) {
    const [given = ""] = invocation.words;
    const loaded = await loadAgentAt(given);
    const followed = followedPolicy(invocation);
    const engine = await createEngine({ ledger: ledgerUrl(invocation), ...followed?.option });
    followed?.follow(engine.ledger, new Output(process.stderr, invocation.env));
    try {
      const runner = await hostAgent(engine, loaded);
      const worker = engine.work();
      const code = await talk(invocation, runner, loaded);
      await worker.stop();
      await runner.close();
      return code;
    } finally {
      followed?.stop();
      await engine.close();
      await loaded.close?.();
    }
  },
};

async function talk(invocation: Invocation, runner: Runner, { app, agent }: LoadedAgent): Promise<number> {
  const { output, flags, words, stdin, exitNow } = invocation;
  const [given = ""] = words;
  const user = flags.text("user") ?? userName();
  const session = flags.text("session") ?? `chat-${randomUUID().slice(0, 8)}`;
  const screen = flags.has("json") ? jsonScreen(output) : new TextScreen(output);
  const name = { app, user, id: session };
  const engine = await runner.engine();
  const login = await loginOf(engine, invocation);
  const decidesVia = login === undefined ? VIA : flags.has("break-glass") ? VIA_BREAK_GLASS : undefined;
  const conversation = new Conversation({ runner, engine, screen, name, decidesVia });
  const known = await conversation.begin();
  screen.note(
    `${inert(agent.name)} (${inert(app)}), session ${inert(session)}${known > 0 ? ", continued" : ""}`,
  );
  if (decidesVia === undefined) {
    screen.note(`This ledger requires a login to decide (${login}). You can talk here; decide in the inbox.`);
  }
  const lines = new Lines(stdin, process.stdout);
  const sameUser = flags.has("user") ? ` --user ${shellWord(user)}` : "";
  const resumeWords = isPersistent(ledgerUrl(invocation))
    ? `run ${shellWord(given)} --session ${shellWord(session)}${sameUser}`
    : undefined;
  const commandLine = commandLineFor(invocation);
  try {
    return await new Chat({ conversation, lines, screen, exitNow, commandLine, resumeWords }).run();
  } finally {
    lines.close();
  }
}
