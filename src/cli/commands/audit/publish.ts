import { partsOf, publishReceipts, type Receipt } from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { openTargets } from "../../../receipts/index.ts";
import { openReceiptsFile } from "../../audit/open-receipts.ts";
import { type Command, LEDGER_FLAG } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert } from "../../output.ts";
import { withEngine } from "../../wiring.ts";

export const auditPublish: Command = {
  usage: "FILE",
  about:
    "Writes a checkpoint over the whole journal, and sends a signed receipt of it to every target in FILE: a file, an https " +
    "address or a git working copy. `audit verify --receipts` then detects if the journal was truncated or rewritten, or the " +
    "ledger restored from an older backup. What was interrupted is sent again. `serve --receipts FILE` does this on a schedule. " +
    "Needs COUNTERSIGN_SECRET; what is posted is signed with COUNTERSIGN_WEBHOOK_SECRET too.",
  words: { names: ["FILE"] },
  flags: LEDGER_FLAG,
  examples: [{ line: "audit publish receipts.yaml", says: "sends one receipt to each target now" }],
  run(invocation) {
    const { output, flags, words, env } = invocation;
    const [file = ""] = words;
    const settings = openReceiptsFile(file);
    return withEngine(invocation, async (engine) => {
      const targets = await openTargets(engine, settings, env["COUNTERSIGN_WEBHOOK_SECRET"] || undefined);
      const receipts: Receipt[] = [];
      const failures: { readonly target: string; readonly reason: string }[] = [];
      const warnings: string[] = [];
      const run = await publishReceipts(partsOf(engine), {
        targets,
        onPublished: (receipt) => receipts.push(receipt),
        onFailed: (target, reason) => failures.push({ target, reason }),
        onWarning: (_target, warning) => warnings.push(warning),
      });
      if (run.ended === "elsewhere")
        throw new CountersignError("ledger-busy", "Another process publishes receipts now. Try again later.");
      if (flags.has("json")) output.json({ receipts, failures, warnings });
      else {
        for (const { target, number, head } of receipts)
          output.line(`Published receipt ${number} to ${inert(target)}: ${head}`);
        for (const warning of warnings) output.prose(`Warning: ${inert(warning)}`);
        for (const { target, reason } of failures)
          output.prose(`Not published to ${inert(target)}: ${inert(reason)} Run the command again.`);
      }
      return failures.length > 0 ? EXIT.failed : EXIT.ok;
    });
  },
};
