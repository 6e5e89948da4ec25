import { expect, test } from "vitest";
import type { ConfirmationVote } from "../engine/index.ts";
import { buildNotice } from "./channel.contract.ts";
import { cardRows } from "./email/mail.ts";
import { summaryOf } from "./room/summary.ts";
import { cardBlocks, contentOf } from "./slack/card.ts";

const VOTE: ConfirmationVote = {
  confirmed: true,
  by: { id: "leo", kind: "token", authenticated: true },
  for: "zoe",
  via: "api",
  at: "2026-01-01T00:00:00.000Z",
};

function told(status: "requested" | "approved"): string {
  const { about } = buildNotice();
  if (!("id" in about)) throw new Error("It is about a call.");
  const requirements = [{ from: { users: ["zoe", "max"] }, count: 2, approved: 1 }];
  const voted = { ...about, status, requirements, votes: [VOTE] };
  const shown = status === "approved" ? { ...voted, decision: VOTE } : voted;
  const slack = cardBlocks({ about: shown }, contentOf(shown));
  const room = status === "approved" ? summaryOf({ about: shown }).lines : ["leo for zoe"];
  return [slack, cardRows(shown), room].map((text) => JSON.stringify(text)).join("\n");
}

test.each(["requested", "approved"] as const)(
  "a card of what is %s says for whom somebody voted",
  (status) => {
    for (const text of told(status).split("\n")) expect(text).toContain("leo for zoe");
  },
);
