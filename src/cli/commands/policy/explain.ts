import { type Ledger, type PolicyNote, policyText } from "../../../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonValue, member, parseJson } from "../../../protocol/index.ts";
import { type Command, LEDGER_FLAG } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { findConfirmation } from "../../find-confirmation.ts";
import { inert, type Output } from "../../output.ts";
import { notedRules } from "../../policy/noted-rules.ts";
import { withEngine } from "../../wiring.ts";

export const policyExplain: Command = {
  usage: "<id>",
  about:
    "<id> may be the last four or more characters of an id. Prints the version of the policy that judged the call, the rules that " +
    "applied, the values that their conditions read (without secrets), and each rule as it was written then.",
  words: { names: ["<id>"] },
  flags: LEDGER_FLAG,
  examples: [{ line: "policy explain k3f9x2ab", says: "why somebody was asked" }],
  run(invocation) {
    const [given = ""] = invocation.words;
    const { output, flags } = invocation;
    return withEngine(invocation, async ({ ledger }) => {
      const { confirmation } = await findConfirmation(ledger, given);
      const { id, shown } = confirmation;
      const notes = await notedRules(ledger, confirmation);
      const explained = await Promise.all(notes.map((note) => explain(ledger, note)));
      if (flags.has("json"))
        output.json({ id, why: [...shown.why], policy: explained as unknown as JsonValue });
      else print(output, { why: shown.why, explained });
      return EXIT.ok;
    });
  },
};

interface Explained {
  readonly version?: string;
  readonly rules: readonly (PolicyNote["rules"][number] & { readonly text?: JsonValue | undefined })[];
}

async function explain(ledger: Ledger, { version, rules }: PolicyNote): Promise<Explained> {
  const text = version === undefined ? undefined : await policyText(ledger, version);
  const parsed = text === undefined ? undefined : parseJson(text);
  const file = parsed?.ok === true && isJsonObject(parsed.value) ? member(parsed.value, "rules") : undefined;
  const written = isJsonArray(file) ? file.filter(isJsonObject) : [];
  return {
    ...(version === undefined ? {} : { version }),
    rules: rules.map((applied) => ({ ...applied, text: written.find(({ id }) => id === applied.rule) })),
  };
}

function print(
  output: Output,
  { why, explained }: { readonly why: readonly string[]; readonly explained: readonly Explained[] },
): void {
  output.line("A person is asked because:");
  for (const reason of why) output.prose(inert(reason), "  ");
  if (explained.length === 0) output.line("No rule of a policy applied.");
  for (const { version, rules } of explained) {
    output.line();
    output.line(output.style("bold", version === undefined ? "Rules in code" : `Policy ${inert(version)}`));
    for (const { rule, reason, outcome, observe, facts = {}, text } of rules) {
      const noted = observe === true ? " (observe: recorded only)" : "";
      output.line(`  ${inert(rule ?? reason ?? "")}: ${outcome}${noted}`);
      for (const [name, value] of Object.entries(facts))
        output.line(`    it saw ${inert(name)} = ${inert(JSON.stringify(value))}`);
      if (text === undefined) continue;
      output.line("    as it was written then:");
      output.quote(JSON.stringify(text, undefined, 2), "      ");
    }
  }
}
