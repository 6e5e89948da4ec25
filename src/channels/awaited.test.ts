import { expect, test } from "vitest";
import type { Confirmation, ConfirmationVote, Requirement } from "../engine/index.ts";
import { isAwaited } from "./awaited.ts";
import { buildNotice } from "./channel.contract.ts";
import { askedAmong, type PeopleKnown, toChannelPrincipal } from "./people.ts";

const PEOPLE = ["ana", "bob", "cleo", "leo", "cfo", "dora"].map((id) => ({
  id,
  ...(id === "dora" ? { roles: ["finance"] } : {}),
}));
const NOW = Date.UTC(2026, 0, 2);
const VOTED_AT = new Date(NOW - 60_000).toISOString();
const FINANCE: Requirement = { from: { users: ["ana", "bob", "cleo"], roles: ["finance"] }, count: 2 };
const LEGAL: Requirement = { from: { users: ["leo"] }, count: 1 };

function approval(id: string, requirement = 0, more: Partial<ConfirmationVote> = {}): ConfirmationVote {
  const by = { id, kind: "token", authenticated: true } as const;
  return { confirmed: true, by, requirement, via: "api", at: VOTED_AT, ...more };
}

function awaited(
  votes: readonly ConfirmationVote[],
  known: PeopleKnown = {},
  over: Partial<Confirmation> = {},
): readonly string[] {
  const { about } = buildNotice();
  const requirements = [FINANCE, LEGAL].map((one) => ({ ...one, approved: 0 }));
  const confirmation = { ...about, requirements, votes, ...over } as Confirmation;
  const told = askedAmong(confirmation, PEOPLE, known).filter((person) =>
    isAwaited(confirmation, toChannelPrincipal(person), { known, at: NOW }),
  );
  return told.map(({ id }) => id);
}

test("without votes, everybody who is asked is reminded", () => {
  expect(awaited([])).toEqual(["ana", "bob", "cleo", "leo", "dora"]);
});

test("whoever has approved or denied is not reminded", () => {
  expect(awaited([approval("ana")])).toEqual(["bob", "cleo", "leo", "dora"]);
  const { requirement: _none, ...denial } = { ...approval("bob"), confirmed: false };
  expect(awaited([denial], {}, { denials: 2 })).toEqual(["ana", "cleo", "leo", "dora"]);
});

test("nor is whoever could only approve what enough others have approved", () => {
  expect(awaited([approval("ana"), approval("dora")])).toEqual(["leo"]);
  expect(awaited([approval("leo", 1)])).toEqual(["ana", "bob", "cleo", "dora"]);
});

test("several logins of one person are one, and so are a delegate who voted and whom they voted for", () => {
  const directory = { group: () => undefined, person: (id: string) => (id === "bob" ? "ana" : id) };
  expect(awaited([approval("ana")], { directory })).toEqual(["cleo", "leo", "dora"]);
  expect(awaited([approval("cleo", 1, { for: "leo" })])).toEqual(["ana", "bob", "dora"]);
});

test("a delegate is reminded only while the vote of whom they vote for is awaited", () => {
  const delegation = { id: "d1", from: "leo", to: "cfo", since: 0, until: NOW + 1 };
  const known = { delegations: [delegation] } as unknown as PeopleKnown;
  expect(awaited([approval("ana")], known)).toEqual(["bob", "cleo", "leo", "cfo", "dora"]);
  expect(awaited([approval("leo", 1)], known)).toEqual(["ana", "bob", "cleo", "dora"]);
});

test("a vote that lapsed, or of somebody who left the group, is awaited again", () => {
  const everybody = { group: () => FINANCE.from, person: (id: string) => id, voteMaxAgeMs: 1_000 };
  expect(awaited([approval("ana"), approval("bob")], { directory: everybody })).toContain("cleo");
  const requirements = [{ ...FINANCE, group: "finance", approved: 2 }];
  const smaller = { group: () => ({ users: ["bob", "cleo"] }), person: (id: string) => id };
  const votes = [approval("ana"), approval("bob")];
  expect(awaited(votes, { directory: smaller }, { requirements })).toEqual(["cleo"]);
});

test("who fills in after an escalation is reminded while that requirement is open", () => {
  const escalations = [{ at: VOTED_AT, to: { users: ["cfo"] }, fills: [0], reached: true }];
  expect(awaited([approval("ana")], {}, { escalations })).toContain("cfo");
  expect(awaited([approval("ana"), approval("bob")], {}, { escalations })).toEqual(["leo"]);
});
