import { randomUUID } from "node:crypto";
import type { Command, Invocation } from "../command.ts";
import { playDemo } from "../demo/play.ts";
import { Output } from "../output.ts";
import { DEMO_FILE, ledgerUrl, openEngine } from "../wiring.ts";

const DEMO_URL = `sqlite:${DEMO_FILE}`;

export const demo: Command = {
  name: "demo",
  summary: "a gated function, approved and denied in this terminal",
  usage: "[--db URL]",
  about:
    "Pays out $45 by itself and asks you about $2500. Decide here or from a second terminal; stop it with Ctrl-C " +
    "and start it again: what waits is in the ledger, not in the process. Without a terminal it plays both " +
    "answers by itself.",
  flags: {
    db: {
      type: "string",
      value: "URL",
      help: `the ledger; made if absent (COUNTERSIGN_DB, else ${DEMO_URL})`,
    },
  },
  examples: [
    { line: "demo", says: `in ${DEMO_FILE} of this folder` },
    { line: "demo --db memory:", says: "leaves nothing behind" },
  ],
  async run(invocation: Invocation) {
    const url = ledgerUrl(invocation, DEMO_URL);
    const engine = await openEngine(url);
    const asJson = invocation.flags.has("json");
    // Programs get the summary and nothing else.
    const output = asJson ? new Output({ write: () => true }, invocation.env) : invocation.output;
    try {
      const { code, summary } = await playDemo(
        engine,
        { ...invocation, output },
        { url, newKey: () => `claim-${randomUUID().slice(0, 8)}` },
      );
      if (asJson) invocation.output.json(summary);
      return code;
    } finally {
      await engine.close();
    }
  },
};
