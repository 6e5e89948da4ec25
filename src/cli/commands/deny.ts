import { BREAK_GLASS_FLAG } from "../acting-here.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { decideHere, SHOWN_VERSION_FLAG } from "../decide.ts";

export const deny: Command = {
  usage: "<id> [--reason TEXT]",
  about:
    "Commits the decision as local:<your user name>. The agent is told, with the reason. Other calls of " +
    "the same turn are not affected.",
  words: { names: ["<id>"] },
  flags: {
    reason: { type: "string", value: "TEXT", help: "why; the model reads it" },
    ...SHOWN_VERSION_FLAG,
    ...BREAK_GLASS_FLAG,
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "deny k3f9x2ab", says: "denies it" },
    { line: `deny k3f9x2ab --reason "over the travel budget"`, says: "denies it with a reason" },
  ],
  run(invocation) {
    const reason = invocation.flags.text("reason");
    return decideHere(invocation, { confirmed: false, ...(reason === undefined ? {} : { reason }) });
  },
};
