import { errorText, redact } from "../common/index.ts";
import type { CallRecord, GrantLimits } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

/** Why a call does not meet the conditions of a grant; undefined if it does. What cannot be judged is not met. */
export function unmetBy(
  { policy }: Pick<EngineParts, "policy">,
  { where = [] }: Pick<GrantLimits, "where">,
  { args, unparsed, secrets }: Pick<CallRecord, "args" | "unparsed" | "secrets">,
): string | undefined {
  if (where.length === 0) return undefined;
  if (typeof policy !== "object" || policy.condition === undefined)
    return "the policy here cannot judge its conditions";
  // What the function gets is not what is stored here.
  if (unparsed) return "the arguments that would run are not known before the call";
  // Without secrets: a person who writes conditions could otherwise find them out by trying.
  const shown = redact(args, secrets);
  for (const text of where) {
    try {
      if (!policy.condition(text)(shown)) return `the condition “${text}” is not met`;
    } catch (error) {
      return `the condition “${text}” cannot be judged: ${errorText(error)}`;
    }
  }
  return undefined;
}
