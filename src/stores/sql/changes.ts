import {
  type CallChange,
  type ConfirmationChange,
  cutShown,
  cutValue,
  cutVotes,
} from "../../engine/index.ts";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";

/** A change with what lists show of its long values; null where they are short. */
export type StoredCallChange = CallChange & {
  readonly argsCut?: JsonObject | null;
  readonly resultCut?: JsonValue;
};
export type StoredConfirmationChange = ConfirmationChange & {
  readonly shownCut?: ConfirmationChange["shown"] | null;
  readonly votesCut?: ConfirmationChange["votes"] | null;
};

export function withCutCall(set: CallChange): StoredCallChange {
  const { args, result } = set;
  if (args === undefined && result === undefined) return set;
  return {
    ...set,
    ...(args === undefined ? {} : { argsCut: cutValue(args) ?? null }),
    ...(result === undefined ? {} : { resultCut: cutValue(result) ?? null }),
  };
}

export function withCutConfirmation(set: ConfirmationChange): StoredConfirmationChange {
  const { shown, votes } = set;
  if (shown === undefined && votes === undefined) return set;
  return {
    ...set,
    ...(shown === undefined ? {} : { shownCut: cutShown(shown) ?? null }),
    ...(votes === undefined ? {} : { votesCut: cutVotes(votes) ?? null }),
  };
}
