import fc from "fast-check";
import { expect } from "vitest";
import type { ConfirmationRecord, Vote } from "../../src/engine/index.ts";
import { tryApprove, tryDeny } from "../../src/engine/testing/try-decide.ts";
import { type EngineFixture, openEngineFixture, person } from "../attack/support/engine-fixture.ts";

const PEOPLE = ["ana", "bob", "carl", "leo", "rita"] as const;
const HOUR = 3_600_000;
const someone = fc.constantFrom(...PEOPLE);
const requirements = fc.array(
  fc.record({
    from: fc
      .uniqueArray(someone, { minLength: 1, maxLength: 4 })
      .map((users) => ({ users, notRequester: true })),
    count: fc.integer({ min: 1, max: 2 }),
  }),
  { minLength: 1, maxLength: 2 },
);
const acts = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ act: fc.constant("approve" as const), who: someone }) },
    {
      weight: 1,
      arbitrary: fc.record({ act: fc.constantFrom("deny" as const, "withdraw" as const), who: someone }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ act: fc.constant("delegate" as const), who: someone, to: someone }),
    },
    { weight: 1, arbitrary: fc.record({ act: fc.constant("revoke" as const), which: fc.nat(9) }) },
  ),
  { maxLength: 14 },
);

type Values<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;

/** Tried first, so that a question is approved by somebody's delegate, whatever chance brings after it. */
const CARL_FOR_ANA: [Values<typeof requirements>, Values<typeof acts>] = [
  [{ from: { users: ["ana", "bob"], notRequester: true }, count: 2 }],
  [
    { act: "delegate", who: "ana", to: "carl" },
    { act: "approve", who: "bob" },
    { act: "approve", who: "carl" },
  ],
];

/** So that somebody whom a delegation makes one person with another voter, or with the requester, tries to approve. */
const BOB_AND_ANA: typeof CARL_FOR_ANA = [
  [{ from: { users: ["ana", "bob", "carl"], notRequester: true }, count: 2 }],
  [
    { act: "delegate", who: "ana", to: "bob" },
    { act: "delegate", who: "rita", to: "leo" },
    { act: "approve", who: "bob" },
    { act: "approve", who: "ana" },
    { act: "approve", who: "carl" },
  ],
];
const LEO_AND_RITA: typeof CARL_FOR_ANA = [
  [{ from: { users: ["ana", "leo"], notRequester: true }, count: 1 }],
  [
    { act: "delegate", who: "rita", to: "leo" },
    { act: "approve", who: "leo" },
    { act: "deny", who: "leo" },
    { act: "approve", who: "ana" },
  ],
];

/** What the test remembers of a delegation that stands. */
interface Known {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** After so many acts. */
  readonly made: number;
}

/**
 * Whatever people do, delegate and revoke, a question is approved only by enough different persons of whom nobody voted
 * twice, for themselves or for others, or is one person with another or with the requester by a delegation; and by
 * delegations that stand. A denial by somebody who is named is never refused. Resolves to how many questions were approved.
 */
export async function delegatedVotesHold({
  url,
  numRuns,
}: {
  readonly url: string;
  readonly numRuns: number;
}): Promise<number> {
  const fixture = await openEngineFixture({ url, secret: "correct horse battery staple" });
  let approved = 0;
  await fc.assert(
    fc.asyncProperty(requirements, acts, async (asked, steps) => {
      for (const { id } of await fixture.engine.delegations())
        await fixture.engine.revokeDelegation(id, { by: { ...person("ops"), scopes: ["admin"] } });
      const question = { requirements: asked, requesters: ["rita"], denials: 2 };
      const { confirmation, call } = await fixture.ask({ tool: "pay", question });
      const standing: Known[] = [];
      const votedAt = new Map<string, number>();
      const named = new Set(asked.flatMap(({ from }) => from.users).filter((user) => user !== "rita"));
      for (const [place, step] of steps.entries()) {
        await perform(fixture, { id: confirmation.id, step, place, standing, votedAt, named });
        const now = await fixture.confirmation(confirmation.id);
        if (now.status !== "approved") continue;
        approved += 1;
        check(now, standing, votedAt);
        break;
      }
      await fixture.engine.work({ once: true });
      const { status } = await fixture.confirmation(confirmation.id);
      const runs = fixture.app.runs.filter(({ key }) => key === call.id);
      expect(runs).toHaveLength(status === "approved" ? 1 : 0);
    }),
    { numRuns, examples: [CARL_FOR_ANA, BOB_AND_ANA, LEO_AND_RITA] },
  );
  return approved;
}

interface Doing {
  readonly id: string;
  readonly step: Step;
  readonly place: number;
  readonly standing: Known[];
  readonly votedAt: Map<string, number>;
  /** Who may deny. */
  readonly named: ReadonlySet<string>;
}

type Step =
  | { readonly act: "approve" | "deny" | "withdraw"; readonly who: string }
  | { readonly act: "delegate"; readonly who: string; readonly to: string }
  | { readonly act: "revoke"; readonly which: number };

async function perform({ engine, ledger }: EngineFixture, doing: Doing): Promise<void> {
  const { id, step, place, standing, votedAt, named } = doing;
  switch (step.act) {
    case "delegate": {
      const { who: from, to } = step;
      if (from === to) return;
      const made = await engine.delegate({ to, until: ledger.now + HOUR }, { by: person(from) });
      // The same once more is the one that stands.
      if (!standing.some((known) => known.id === made.id))
        standing.push({ id: made.id, from, to, made: place });
      return;
    }
    case "revoke": {
      const [gone] = standing.splice(step.which % Math.max(1, standing.length), 1);
      if (gone !== undefined) await engine.revokeDelegation(gone.id, { by: person(gone.from) });
      return;
    }
    case "withdraw":
      await engine.decisions.withdrawVote(id, { by: person(step.who) });
      return;
    default: {
      const vote = step.act === "approve" ? tryApprove : tryDeny;
      const cast = await vote(engine, id, { by: person(step.who) });
      if (cast.ok && !cast.repeated) votedAt.set(step.who, place);
      if (step.act === "deny" && named.has(step.who))
        expect(cast, `${step.who} denies`).toMatchObject({ ok: true });
    }
  }
}

/** An approved question has what it requires, by the test's own account. */
function check(
  { requirements: asked, votes }: ConfirmationRecord,
  standing: readonly Known[],
  votedAt: ReadonlyMap<string, number>,
): void {
  const at = ({ by }: Vote): number => votedAt.get(by.id) ?? 0;
  const areOne = (one: string, other: string, until: number): boolean =>
    standing.some(
      ({ from, to, made }) =>
        made <= until && ((from === one && to === other) || (from === other && to === one)),
    );
  const approvals = votes.filter(({ confirmed }) => confirmed);
  for (const [index, { from, count }] of asked.entries()) {
    const given = approvals.filter(({ slot }) => slot?.requirement === index);
    expect(given).toHaveLength(count);
    expect(new Set(given.map(({ slot }) => slot?.place)).size).toBe(count);
    const { users = [] } = from === "requester" ? {} : from;
    for (const { by, delegated } of given) expect(users).toContain(delegated?.from ?? by.id);
  }
  for (const [index, vote] of approvals.entries()) {
    const { by, delegated } = vote;
    const persons = [by.id, ...(delegated === undefined ? [] : [delegated.from])];
    if (delegated !== undefined)
      expect(standing).toContainEqual(
        expect.objectContaining({ id: delegated.delegation, from: delegated.from, to: by.id }),
      );
    for (const one of persons) {
      expect(one).not.toBe("rita");
      expect(areOne(one, "rita", at(vote)), `${one} and the requester`).toBe(false);
      for (const other of approvals.slice(index + 1)) {
        const others = [other.by.id, ...(other.delegated === undefined ? [] : [other.delegated.from])];
        expect(others).not.toContain(one);
        const until = Math.max(at(vote), at(other));
        for (const another of others)
          expect(areOne(one, another, until), `${one} and ${another} are one person`).toBe(false);
      }
    }
  }
}
