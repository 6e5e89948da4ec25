import { printCard, printWhatToDo } from "../card.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { findCall } from "../find-confirmation.ts";
import { toJson } from "../report.ts";
import { commandLineFor, localPrincipal, withEngine } from "../wiring.ts";

export const show: Command = {
  name: "show",
  summary: "one confirmation: what would run, why it asks, who decided",
  usage: "<id>",
  about:
    "<id> may be the end of an id, at least four characters. Text behind a bar was said by others (the tool's " +
    "author, the model); characters that could hide or reorder it are written out.",
  words: { names: ["<id>"] },
  flags: LEDGER_FLAG,
  examples: [
    { line: "show k3f9x2ab", says: "everything about it" },
    { line: "show k3f9x2ab --json", says: "the same, for a program" },
  ],
  run(invocation) {
    const [given = ""] = invocation.words;
    return withEngine(invocation, async ({ ledger }) => {
      const found = await findCall(ledger, given);
      const { output } = invocation;
      if (invocation.flags.has("json")) {
        output.json(toJson(found));
        return EXIT.ok;
      }
      const owner = found.call.owner === undefined ? undefined : await ledger.owner(found.call.owner);
      printCard(output, found, owner);
      printWhatToDo(output, found, {
        viewer: localPrincipal(),
        commandLine: commandLineFor(invocation),
      });
      return EXIT.ok;
    });
  },
};
