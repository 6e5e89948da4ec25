import { randomUUID } from "node:crypto";
import { createEngine, Runner } from "../../index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { BREAK_GLASS_FLAG, loginOf, VIA_BREAK_GLASS } from "../acting-here.ts";
import { findAgents } from "../agents/find-agents.ts";
import { type LoadedAgent, loadOneAgent } from "../agents/load-agents.ts";
import { Chat } from "../chat/chat.ts";
import { Conversation } from "../chat/conversation.ts";
import { Lines } from "../chat/lines.ts";
import { jsonScreen, TextScreen } from "../chat/screen.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../command.ts";
import { inert } from "../output.ts";
import { commandLineFor, isKept, ledgerUrl, shellWord, userName, VIA } from "../wiring.ts";

export const run: Command = {
  name: "run",
  summary: "talk to an agent here, and answer what it asks",
  usage: "<agent> [--session NAME] [--user NAME] [--db URL]",
  about:
    "<agent> is a folder with an agent.ts that exports `rootAgent` or an agent.yaml, or the file itself. A call that needs approval " +
    "is shown with its arguments; you approve it, deny it or leave it for later, and a tool that asks for more than " +
    "yes gets it field by field. Everything is in the ledger: --session takes a conversation up again, and what " +
    "waits can be decided by any other door meanwhile. Piped input is taken line by line; a line after a question " +
    "is its answer, and at the end of input what waits is left waiting.",
  words: { names: ["<agent>"] },
  flags: {
    session: {
      type: "string",
      value: "NAME",
      help: "go on with this conversation, or begin it under this name",
    },
    user: { type: "string", value: "NAME", help: "who is talking (your user name)" },
    ...BREAK_GLASS_FLAG,
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "run agents/finance", says: "a new conversation, kept in countersign.db" },
    { line: "run agents/finance --session chat-1f3a9c02", says: "goes on with one that was left" },
    {
      line: "run agents/hr --db memory: <<< 'I want 5 days off'",
      says: "one message, without a terminal; what waits is told",
    },
  ],
  async run(invocation) {
    const [given = ""] = invocation.words;
    const [found, ...others] = findAgents([given]);
    if (found === undefined || others.length > 0) throw severalAgents(given, [found, ...others]);
    const loaded = await loadOneAgent(found);
    const engine = await createEngine({ ledger: ledgerUrl(invocation) });
    try {
      const runner = new Runner({ engine, agent: loaded.agent, app: loaded.app });
      await runner.engine();
      const worker = engine.work();
      const code = await talk(invocation, runner, loaded);
      await worker.stop();
      await runner.close();
      return code;
    } finally {
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
    `${inert(agent.name)} (${inert(app)}), session ${inert(session)}${known > 0 ? ", taken up again" : ""}`,
  );
  if (decidesVia === undefined) {
    screen.note(
      `People log in to decide on this ledger (${login}): here you can talk, and decide in the inbox.`,
    );
  }
  const lines = new Lines(stdin, process.stdout);
  const sameUser = flags.has("user") ? ` --user ${shellWord(user)}` : "";
  const resumeWords = isKept(ledgerUrl(invocation))
    ? `run ${shellWord(given)} --session ${shellWord(session)}${sameUser}`
    : undefined;
  const commandLine = commandLineFor(invocation);
  try {
    return await new Chat({ conversation, lines, screen, exitNow, commandLine, resumeWords }).run();
  } finally {
    lines.close();
  }
}

function severalAgents(
  given: string,
  found: readonly ({ readonly app: string } | undefined)[],
): CountersignError {
  const names = found.map((agent) => agent?.app ?? "").join(", ");
  return new CountersignError(
    "malformed-request",
    `"${given}" has several agents (${names}); name the folder of one, as in ${given}/${found[0]?.app ?? ""}.`,
  );
}
