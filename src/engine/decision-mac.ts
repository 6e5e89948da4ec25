import { createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson } from "../protocol/index.ts";
import type { ConfirmationRecord, Vote } from "./records.ts";

/** Signs a vote over what makes it this decision and no other: id, digest, verdict, approver, time, payload. */
export function voteMac(
  secret: string,
  confirmation: Pick<ConfirmationRecord, "id" | "argsDigest">,
  vote: Omit<Vote, "mac">,
): string {
  const payload = vote.payload === undefined ? null : canonicalJson(vote.payload);
  const tuple = [
    "vote-v1",
    confirmation.id,
    confirmation.argsDigest,
    vote.confirmed,
    vote.by.id,
    vote.at,
    payload,
  ];
  return createHmac("sha256", secret).update(JSON.stringify(tuple)).digest("base64url");
}

/** Was this vote signed with the secret, for this confirmation as it stands? */
export function voteIsGenuine(
  secret: string,
  confirmation: Pick<ConfirmationRecord, "id" | "argsDigest">,
  vote: Vote,
): boolean {
  const expected = Buffer.from(voteMac(secret, confirmation, vote));
  const found = Buffer.from(vote.mac ?? "");
  return expected.length === found.length && timingSafeEqual(expected, found);
}
