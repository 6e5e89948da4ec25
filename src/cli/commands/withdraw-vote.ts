import { actingHere, BREAK_GLASS_FLAG } from "../acting-here.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { findConfirmation, shortId } from "../find-confirmation.ts";
import { inert } from "../output.ts";
import { reload, toError, toJson } from "../report.ts";
import { withEngine } from "../wiring.ts";

export const withdrawVote: Command = {
  usage: "<id>",
  about:
    "Only before the last vote: once a question is decided, the decision is final. To change your vote, use `approve` " +
    "or `deny` again.",
  words: { names: ["<id>"] },
  flags: { ...BREAK_GLASS_FLAG, ...LEDGER_FLAG },
  examples: [{ line: "withdraw-vote k3f9x2ab", says: "withdraws your vote; the question stays open" }],
  run(invocation) {
    const [given = ""] = invocation.words;
    return withEngine(invocation, async (engine) => {
      const found = await findConfirmation(engine.ledger, given);
      const acting = await actingHere(engine, invocation, { found, what: "decide" });
      const withdrawn = await engine.decisions.withdrawVote(found.confirmation.id, acting);
      if (!withdrawn.ok) throw toError(withdrawn);
      const { output, flags } = invocation;
      const subject = `${inert(found.call.tool)} (${shortId(found.confirmation.id)})`;
      if (flags.has("json")) output.json(toJson(await reload(engine, found)));
      else if (withdrawn.repeated) output.line(`You have no vote on ${subject}.`);
      else output.line(`Your vote on ${subject} is withdrawn. The question is open.`);
      return EXIT.ok;
    });
  },
};
