import { type Command, LEDGER_FLAG } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { withEngine } from "../../wiring.ts";

export const auditHead: Command = {
  name: "audit head",
  summary: "seal the journal and print its head, to keep elsewhere",
  usage: "",
  about:
    "Writes a checkpoint over everything so far and prints it as one word. Keep it where whoever can write the " +
    "database cannot: `audit verify --head` then finds that later the end was cut off, or all was rewritten.",
  flags: LEDGER_FLAG,
  examples: [{ line: "audit head", says: "prints the head, and nothing else" }],
  run(invocation) {
    return withEngine(invocation, async (engine) => {
      const head = await engine.head();
      if (invocation.flags.has("json")) invocation.output.json({ head });
      else invocation.output.line(head);
      return EXIT.ok;
    });
  },
};
