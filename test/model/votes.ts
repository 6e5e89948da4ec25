import fc from "fast-check";
import { expect } from "vitest";
import { tryApprove, tryDeny } from "../../src/engine/testing/try-decide.ts";
import { openEngineFixture, person } from "../attack/support/engine-fixture.ts";

const LOGINS = ["ana", "ana@sso", "bob", "carl", "leo", "rita"] as const;
const personOf = (id: string): string => id.replace(/@sso$/, "");
const people = fc.uniqueArray(fc.constantFrom(...LOGINS), { minLength: 1, maxLength: 4 });
const requirements = fc.array(
  fc.record({
    from: people.map((users) => ({ users, notRequester: true })),
    count: fc.integer({ min: 1, max: 2 }),
  }),
  { minLength: 1, maxLength: 2 },
);
const acts = fc.array(
  fc.record({
    login: fc.constantFrom(...LOGINS),
    act: fc.constantFrom("approve", "approve", "approve", "deny", "withdraw"),
  }),
  { maxLength: 12 },
);

/**
 * Whatever people do, a call starts only with enough approvals of different persons, and once. Resolves to how many
 * questions were tried.
 */
export async function votesHold({
  url,
  numRuns,
}: {
  readonly url: string;
  readonly numRuns: number;
}): Promise<number> {
  let tried = 0;
  const policy = {
    judge: () => undefined,
    version: "v1",
    text: "",
    group: () => undefined,
    person: personOf,
  };
  const fixture = await openEngineFixture({ url, policy, secret: "correct horse battery staple" });
  await fc.assert(
    fc.asyncProperty(requirements, fc.integer({ min: 1, max: 2 }), acts, async (asked, denials, steps) => {
      const question = { requirements: asked, requesters: ["rita"], denials };
      const { confirmation, call } = await fixture.ask({ tool: "pay", question });
      tried += 1;
      /** The model: who said what last, while the question was open. */
      const said = new Map<string, boolean>();
      for (const { login, act } of steps) {
        const by = person(login);
        const { status } = await fixture.confirmation(confirmation.id);
        if (act === "withdraw") {
          const taken = await fixture.engine.decisions.withdrawVote(confirmation.id, { by });
          if (taken.ok && status === "requested") said.delete(personOf(login));
          continue;
        }
        const vote = act === "approve" ? tryApprove : tryDeny;
        const cast = await vote(fixture.engine, confirmation.id, { by });
        if (cast.ok && status === "requested") said.set(personOf(login), act === "approve");
      }
      const { status, votes } = await fixture.confirmation(confirmation.id);
      expect(new Map(votes.map((vote) => [vote.person, vote.confirmed]))).toEqual(said);
      expect(said.has("rita")).toBe(false);
      const approvals = votes.filter(({ confirmed }) => confirmed);
      const needed = asked.map(({ count }, place) => [
        approvals.filter(({ slot }) => slot?.requirement === place).length,
        count,
      ]);
      const met = needed.every(([given = 0, count = 0]) => given >= count);
      expect(needed.every(([given = 0, count = 0]) => given <= count)).toBe(true);
      const denied = votes.length - approvals.length >= denials;
      expect(status).toBe(denied ? "denied" : met ? "approved" : "requested");
      await fixture.engine.work({ once: true });
      expect(fixture.app.runs.filter(({ key }) => key === call.id)).toHaveLength(met && !denied ? 1 : 0);
    }),
    { numRuns },
  );
  return tried;
}
