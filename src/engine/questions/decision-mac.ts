import { timingSafeEqual } from "node:crypto";
import { canonicalJson } from "../../protocol/index.ts";
import { hmac } from "../common/index.ts";
import type { CallRecord, ConfirmationRecord, Vote } from "../ledger/index.ts";

/** What a vote is about: this question, this call, this tool as it was shown, these arguments. */
export interface VotedOn {
  readonly confirmation: Pick<ConfirmationRecord, "id" | "argsDigest">;
  readonly call: Pick<CallRecord, "id" | "tool" | "definitionDigest">;
}

/** Signs a vote over what makes it this decision and no other: its subject, verdict, approver, time, payload. */
export function voteMac(secret: string, { confirmation, call }: VotedOn, vote: Omit<Vote, "mac">): string {
  const payload = vote.payload === undefined ? null : canonicalJson(vote.payload);
  const tuple = [
    "vote-v1",
    confirmation.id,
    confirmation.argsDigest,
    call.id,
    call.tool,
    call.definitionDigest,
    vote.confirmed,
    vote.by.id,
    vote.at,
    payload,
  ];
  return hmac(secret, JSON.stringify(tuple));
}

/** Was this vote signed with the secret, for exactly this subject? */
export function voteIsGenuine(secret: string, subject: VotedOn, vote: Vote): boolean {
  const expected = Buffer.from(voteMac(secret, subject, vote));
  const found = Buffer.from(vote.mac ?? "");
  return expected.length === found.length && timingSafeEqual(expected, found);
}
