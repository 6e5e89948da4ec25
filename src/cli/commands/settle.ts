import type { Settlement } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { actingHere, BREAK_GLASS_FLAG } from "../acting-here.ts";
import { type Command, type GivenFlags, LEDGER_FLAG } from "../command.ts";
import { statusOf, statusText } from "../display/card.ts";
import { EXIT } from "../exit-codes.ts";
import { findCall, shortId } from "../find-confirmation.ts";
import { inert } from "../output.ts";
import { parseFlag, reload, toError, toJson } from "../report.ts";
import { withEngine } from "../wiring.ts";

const ADVICE: { readonly [code: string]: string } = {
  "stale-version": "`countersign show` prints its current state, and how to settle it.",
};

export const settle: Command = {
  usage: "<id> (--succeeded JSON | --failed TEXT [--did-not-happen] | --retry)",
  about:
    "A call is unknown when the process that ran it stopped before it reported a result. The call may have run, or not. Only a person " +
    "can find out: read `countersign show`, check the system that the call changes, then record the outcome here. The first " +
    "settlement is final. --retry confirms that the call did NOT happen: it runs again, with the same idempotency key. If that attempt " +
    "is lost too, the same command does nothing: use --attempt to name the attempt that you checked.",
  words: { names: ["<id>"] },
  flags: {
    succeeded: { type: "string", value: "JSON", help: "the call happened, with this result" },
    failed: { type: "string", value: "TEXT", help: "the call did not happen, or only in part; do not retry" },
    "did-not-happen": {
      type: "boolean",
      help: "with --failed: it did not happen, not even in part; its use is given back to the grant",
    },
    retry: { type: "boolean", help: "the call did not happen; run it again" },
    attempt: {
      type: "string",
      value: "N",
      help: "the attempt that you checked; --retry assumes the first",
    },
    ...BREAK_GLASS_FLAG,
    ...LEDGER_FLAG,
  },
  examples: [
    { line: `settle k3f9x2ab --succeeded '{"paid":2500}'`, says: "the bank confirms the payment" },
    { line: `settle k3f9x2ab --failed "the host was gone"`, says: "records a failure" },
    { line: "settle k3f9x2ab --retry", says: "runs it again where its app is hosted" },
  ],
  run(invocation) {
    const [given = ""] = invocation.words;
    const { output, flags } = invocation;
    const settlement = settlementOf(flags);
    return withEngine(invocation, async (engine) => {
      const found = await findCall(engine.ledger, given);
      const acting = await actingHere(engine, invocation, { found, what: "settle" });
      const { id: call, attempt: latest } = found.call;
      // Repeating the command must not run a later attempt.
      const meant = settlement.as === "retry" ? Math.min(latest, 1) : latest;
      const attempt = flags.number("attempt", 0) ?? meant;
      const settled = await engine.decisions.settle({ call }, { ...settlement, attempt }, acting);
      if (!settled.ok) throw toError(settled, ADVICE[settled.code]);
      // About an earlier attempt, while a later one must be settled.
      if (settled.repeated && settled.call.status === "unknown") {
        const message = `The unknown attempt is ${settled.call.attempt}, not ${attempt}.`;
        throw toError({ ok: false, code: "stale-version", message }, ADVICE["stale-version"]);
      }
      const now = await reload(engine, found);
      const id = now.confirmation === undefined ? now.call.id : shortId(now.confirmation.id);
      if (flags.has("json")) output.json(toJson(now));
      else output.line(`Settled ${inert(now.call.tool)} (${id}): ${statusText(output, statusOf(now))}.`);
      if (settlement.as === "retry" && !flags.has("json")) {
        output.prose(`It runs again, with the same idempotency key, where ${inert(now.call.app)} is hosted.`);
      }
      return EXIT.ok;
    });
  },
};

function settlementOf(flags: GivenFlags): Settlement {
  const given = ["succeeded", "failed", "retry"].filter((name) => flags.has(name));
  if (given.length !== 1) {
    const problem = given.length === 0 ? "needs one of" : "takes only one of";
    throw new CountersignError(
      "malformed-request",
      `\`settle\` ${problem} --succeeded JSON, --failed TEXT and --retry.`,
    );
  }
  if (flags.has("did-not-happen") && !flags.has("failed"))
    throw new CountersignError("malformed-request", "`--did-not-happen` needs --failed TEXT.");
  const succeeded = flags.text("succeeded");
  if (succeeded !== undefined) return { as: "succeeded", result: parseFlag("succeeded", succeeded) };
  const failed = flags.text("failed");
  if (failed === undefined) return { as: "retry" };
  return { as: "failed", error: failed, ...(flags.has("did-not-happen") ? { happened: false } : {}) };
}
