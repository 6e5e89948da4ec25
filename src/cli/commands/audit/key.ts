import { partsOf, receiptKeyOf, signingSecret } from "../../../engine/index.ts";
import { type Command, LEDGER_FLAG } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { withEngine } from "../../wiring.ts";

export const auditKey: Command = {
  usage: "",
  about:
    "Prints the public key with which everybody can check receipts: `audit verify --receipts FILE --key KEY`. It is derived " +
    "from COUNTERSIGN_SECRET, and does not reveal it. Give it to the people who check, in a way that nobody can tamper with.",
  flags: LEDGER_FLAG,
  examples: [{ line: "audit key", says: "prints only the key" }],
  run(invocation) {
    const { flags, output } = invocation;
    return withEngine(invocation, async (engine) => {
      const secret = signingSecret(partsOf(engine));
      // With another secret than the ledger's it would be the key of nothing.
      await engine.ready();
      const key = receiptKeyOf(secret);
      if (flags.has("json")) output.json({ key });
      else output.line(key);
      return EXIT.ok;
    });
  },
};
