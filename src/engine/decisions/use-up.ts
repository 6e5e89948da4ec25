import type { CallRecord, ConfirmationRecord, Conflict, Plan } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { type RefusedDecision, refusal, type UsedUp } from "./decision.ts";

/** A decision on a question, or a vote that was taken back. */
interface Judged {
  readonly ok: true;
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
}

/** The plan of a decision that is committed only with what it uses up. What is refused, or repeats, uses up nothing. */
export async function useUp<T extends Judged>(
  { ledger }: EngineParts,
  plan: Plan<T | RefusedDecision>,
  { uses, last }: { readonly uses: UsedUp | undefined; readonly last: Conflict | undefined },
): Promise<Plan<T | RefusedDecision>> {
  const { draft, value } = plan;
  if (uses === undefined || draft === undefined || !value.ok) return plan;
  const { kind, id, expiresAt, use, isNew = false } = uses;
  const item = isNew && last === undefined ? undefined : await ledger.items.get(kind, id);
  const left = use(item?.value);
  if (left === undefined) {
    const { confirmation, call } = value;
    return { value: { ...refusal("forbidden", "This approval has already been used."), confirmation, call } };
  }
  draft.write({ kind: "item", item: { kind, id, value: left, expiresAt }, read: item?.version ?? 0 });
  return plan;
}
