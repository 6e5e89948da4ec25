import { type Command, LEDGER_FLAG } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { withEngine } from "../../wiring.ts";

export const auditHead: Command = {
  usage: "",
  about:
    "Writes a checkpoint over the whole journal and prints it as one word. Store it where nobody who can write to the " +
    "database can change it. `audit verify --head` then detects if the journal was truncated or rewritten.",
  flags: LEDGER_FLAG,
  examples: [{ line: "audit head", says: "prints only the head" }],
  run(invocation) {
    return withEngine(invocation, async (engine) => {
      const head = await engine.head();
      if (invocation.flags.has("json")) invocation.output.json({ head });
      else invocation.output.line(head);
      return EXIT.ok;
    });
  },
};
