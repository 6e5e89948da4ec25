import { BREAK_GLASS_FLAG } from "../acting-here.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { decideHere, SHOWN_VERSION_FLAG } from "../decide.ts";
import { parseFlag } from "../report.ts";

export const approve: Command = {
  name: "approve",
  summary: "let one call run, once",
  usage: "<id> [--payload JSON] [--wait SECONDS]",
  about:
    "Commits the decision as local:<your user name>. The call runs where its app is hosted: if no such " +
    "process is up, as soon as one is. Approving again changes nothing and runs nothing. <id> may be the " +
    "end of an id, at least four characters, or the call's id: both decide only the first question of a call. One " +
    "that asks again is decided by its whole id. With --wait, the exit code is 0 only if the call succeeded.",
  words: { names: ["<id>"] },
  flags: {
    payload: { type: "string", value: "JSON", help: "what the tool asked for; `show` prints its schema" },
    wait: {
      type: "string",
      value: "SECONDS",
      help: "wait so long for the call to end, and print its result",
    },
    ...SHOWN_VERSION_FLAG,
    ...BREAK_GLASS_FLAG,
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "approve k3f9x2ab", says: "decides, and returns at once" },
    { line: "approve k3f9x2ab --wait 30", says: "and prints the result, if there is one within 30 seconds" },
    {
      line: `approve k3f9x2ab --payload '{"approvedDays":3}'`,
      says: "answers a question that wants more than yes",
    },
  ],
  run(invocation) {
    const payload = invocation.flags.text("payload");
    return decideHere(invocation, {
      confirmed: true,
      ...(payload === undefined ? {} : { payload: parseFlag("payload", payload) }),
    });
  },
};
