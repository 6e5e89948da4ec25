import { BREAK_GLASS_FLAG } from "../acting-here.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { decideHere, SHOWN_VERSION_FLAG } from "../decide.ts";
import { parseFlag } from "../report.ts";

export const approve: Command = {
  name: "approve",
  summary: "approve one call; it runs at most once",
  usage: "<id> [--payload JSON] [--wait SECONDS]",
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
  ],
  run(invocation) {
    const payload = invocation.flags.text("payload");
    return decideHere(invocation, {
      confirmed: true,
      ...(payload === undefined ? {} : { payload: parseFlag("payload", payload) }),
    });
  },
};
