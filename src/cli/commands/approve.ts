import type { GrantTerms } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { BREAK_GLASS_FLAG } from "../acting-here.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { decideHere, SHOWN_VERSION_FLAG } from "../decide.ts";
import { parseFlag, parseObjectFlag } from "../report.ts";

export const approve: Command = {
  usage: "<id> [--payload JSON] [--args JSON --agent PATH] [--grant JSON] [--wait SECONDS]",
  about:
    "Commits the decision as local:<your user name>. The call runs where its app is hosted: if no such " +
    "process is running, it runs when one starts. Approving twice is harmless: nothing runs again. <id> may be the " +
    "last four or more characters of an id, or the call's id; both decide only the first question of a call. If the call " +
    "asks again, give the full id of the new question. With --wait, the exit code is 0 only if the call succeeded.",
  words: { names: ["<id>"] },
  flags: {
    payload: {
      type: "string",
      value: "JSON",
      help: "the data that the tool asks for; `show` prints its schema",
    },
    args: {
      type: "string",
      value: "JSON",
      help: "run with these arguments changed; `show` prints which ones you may change. Needs --agent",
    },
    grant: {
      type: "string",
      value: "JSON",
      help: "let further calls like this one run without asking; `show` prints how far that may go",
    },
    agent: {
      type: "string",
      value: "PATH",
      help: "the agent's folder or file: its tool checks the changed arguments, and the call runs in this process",
    },
    wait: {
      type: "string",
      value: "SECONDS",
      help: "wait up to this many seconds for the call to end, and print its result",
    },
    ...SHOWN_VERSION_FLAG,
    ...BREAK_GLASS_FLAG,
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "approve k3f9x2ab", says: "approves, and returns at once" },
    { line: "approve k3f9x2ab --wait 30", says: "also waits up to 30 seconds and prints the result" },
    {
      line: `approve k3f9x2ab --payload '{"approvedDays":3}'`,
      says: "approves with the data that the tool asks for",
    },
    {
      line: `approve k3f9x2ab --args '{"amount":2000}' --agent agents/finance`,
      says: "approves a smaller amount",
    },
    {
      line: `approve k3f9x2ab --grant '{"forMs":3600000,"count":5}'`,
      says: "also lets five further calls run within an hour",
    },
  ],
  async run(invocation) {
    const { flags } = invocation;
    const [payload, args, agent] = [flags.text("payload"), flags.text("args"), flags.text("agent")];
    const grant = flags.text("grant");
    const verdict = {
      confirmed: true,
      ...(payload === undefined ? {} : { payload: parseFlag("payload", payload) }),
      ...(args === undefined ? {} : { args: parseObjectFlag("args", args) }),
      ...(grant === undefined ? {} : { grant: parseObjectFlag("grant", grant) as GrantTerms }),
    };
    if (agent === undefined && args !== undefined)
      throw new CountersignError(
        "malformed-request",
        "--args needs --agent PATH: the agent's tool checks the changed arguments. In the inbox you can change them too.",
        { details: { field: "agent" } },
      );
    if (agent === undefined) return decideHere(invocation, verdict);
    const { loadAgentAt } = await import("../agents/host-agent.ts");
    const loaded = await loadAgentAt(agent);
    try {
      return await decideHere(invocation, verdict, loaded);
    } finally {
      await loaded.close?.();
    }
  },
};
