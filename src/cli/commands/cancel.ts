import { CountersignError } from "../../protocol/index.ts";
import { actingHere, BREAK_GLASS_FLAG } from "../acting-here.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { findConfirmation, shortId } from "../find-confirmation.ts";
import { inert } from "../output.ts";
import { reload, toError, toJson } from "../report.ts";
import { withEngine } from "../wiring.ts";

export const cancel: Command = {
  usage: "<id> --reason TEXT",
  about:
    "This is not a denial: the question is recorded as withdrawn, with your reason, and the call does not run.",
  words: { names: ["<id>"] },
  flags: {
    reason: { type: "string", value: "TEXT", help: "why (required); stored in the journal" },
    ...BREAK_GLASS_FLAG,
    ...LEDGER_FLAG,
  },
  examples: [{ line: `cancel k3f9x2ab --reason "asked in the wrong environment"`, says: "withdraws it" }],
  run(invocation) {
    const [given = ""] = invocation.words;
    const reason = invocation.flags.text("reason");
    if (reason === undefined || reason.trim() === "") {
      throw new CountersignError(
        "malformed-request",
        "`cancel` needs --reason TEXT. The reason is stored in the journal.",
        {
          details: { field: "reason" },
        },
      );
    }
    return withEngine(invocation, async (engine) => {
      const found = await findConfirmation(engine.ledger, given);
      const acting = await actingHere(engine, invocation, { found, what: "cancel" });
      const cancelled = await engine.decisions.cancel(found.confirmation.id, { ...acting, reason });
      if (!cancelled.ok) throw toError(cancelled);
      const { output, flags } = invocation;
      if (flags.has("json")) output.json(toJson(await reload(engine, found)));
      else
        output.line(
          `${cancelled.repeated ? "Withdrawn already" : "Withdrawn"}: ${inert(found.call.tool)} (${shortId(found.confirmation.id)}). It will not run.`,
        );
      return EXIT.ok;
    });
  },
};
