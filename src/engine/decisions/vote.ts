import type { Vote } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { type VotedOn, voteMac } from "../questions/index.ts";
import type { Decider, DecisionInput } from "./decision.ts";

/** A decision as it is stored, signed if the engine has a secret. */
export function signedVote(
  parts: EngineParts,
  subject: VotedOn,
  { input, decider }: { readonly input: DecisionInput; readonly decider: Decider },
  verdict: Pick<Vote, "confirmed" | "at" | "payload" | "args" | "sentDigest">,
): Vote {
  const { by, via } = decider;
  const vote = { ...verdict, by, via, ...(input.reason === undefined ? {} : { reason: input.reason }) };
  return parts.secret === undefined ? vote : { ...vote, mac: voteMac(parts.secret, subject, vote) };
}
