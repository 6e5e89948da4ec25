import fc from "fast-check";
import { expect } from "vitest";
import { tryApprove } from "../../src/engine/testing/try-decide.ts";
import { openEngineFixture, person } from "../attack/support/engine-fixture.ts";

const PEOPLE = ["ana", "bob", "carl", "leo", "rita"] as const;
const MINUTE = 60_000;
const someone = fc.constantFrom(...PEOPLE);
const some = fc.uniqueArray(someone, { minLength: 1, maxLength: 2 });
const requirements = fc.array(
  some.map((users) => ({ from: { users, notRequester: true }, count: 1 })),
  { minLength: 1, maxLength: 2 },
);
const escalations = fc.array(
  fc.record({ after: fc.integer({ min: 1, max: 9 }), to: some, fills: fc.constantFrom([0], [1], [0, 1]) }),
  { minLength: 1, maxLength: 3 },
);
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: someone.map((who) => ({ who })) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 3 }).map((wait) => ({ wait })) },
    { weight: 1, arbitrary: fc.constant({ work: true as const }) },
  ),
  { minLength: 6, maxLength: 14 },
);

interface Escalated {
  readonly after: number;
  readonly to: readonly string[];
  readonly fills: readonly number[];
}

type Values<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;
type Tried = [Values<typeof requirements>, Values<typeof escalations>, number, Values<typeof steps>];

/** Tried first, so that somebody whom only an escalation asks approves, whatever chance brings after it. */
const BOB_FILLS_IN: Tried = [
  [{ from: { users: ["ana"], notRequester: true }, count: 1 }],
  [{ after: 2, to: ["bob"], fills: [0] }],
  4,
  [{ who: "bob" }, { wait: 1 }, { who: "bob" }, { wait: 1 }, { work: true }, { who: "bob" }],
];

/**
 * Whatever happens when, who may approve is what the rule and the ledger's clock say, whether or not a worker was there: who
 * is named, and from its time on whom an escalation names for that requirement. Each escalation is told of once, and never
 * early. Resolves to how many approvals were given by people who only an escalation asked.
 */
export async function escalationsHold({
  url,
  numRuns,
  advance = async () => {},
}: {
  readonly url: string;
  readonly numRuns: number;
  /** Moves the store's own clock on, if it has one. */
  readonly advance?: (ms: number) => Promise<void>;
}): Promise<number> {
  const fixture = await openEngineFixture({ url, secret: "correct horse battery staple" });
  const { engine, clock } = fixture;
  let filledIn = 0;
  await fc.assert(
    fc.asyncProperty(
      requirements,
      escalations,
      fc.integer({ min: 4, max: 20 }),
      steps,
      async (asked, all, deadline, acts) => {
        const kept = all.map((one) => ({ ...one, fills: one.fills.filter((place) => place < asked.length) }));
        const escalate = kept.map(({ after, to, fills }) => ({
          afterMs: after * MINUTE,
          to: { users: to },
          fills,
        }));
        const question = {
          requirements: asked,
          requesters: ["rita"],
          expiresInMs: deadline * MINUTE,
          escalate,
        };
        const { confirmation, call } = await fixture.ask({ tool: "pay", question });
        const happen = kept.filter(({ after }) => after < deadline);
        /** The model: who filled which requirement, and how late it is. */
        const filled = new Map<number, string>();
        let late = 0;
        let worked = 0;
        for (const act of acts) {
          if ("wait" in act) {
            late += act.wait;
            await advance(act.wait * MINUTE);
            await clock.advance(act.wait * MINUTE);
          } else if ("work" in act) {
            await engine.work({ once: true });
            if (filled.size < asked.length && late < deadline) worked = Math.max(worked, late);
          } else {
            const isOpen = filled.size < asked.length && late < deadline;
            const place = isOpen ? placeFor(act.who, asked, happen, { filled, late }) : undefined;
            const cast = await tryApprove(engine, confirmation.id, { by: person(act.who) });
            expect(cast.ok && !cast.repeated, `${act.who} after ${late} minutes`).toBe(place !== undefined);
            if (place === undefined) continue;
            filled.set(place, act.who);
            if (asked[place]?.from.users.includes(act.who) === false) filledIn += 1;
          }
        }
        const told = (await fixture.journal()).filter(
          ({ kind, body }) => kind === "confirmation-escalated" && body["confirmation"] === confirmation.id,
        );
        // The same people at the same time are told once, whatever they fill in for.
        const due = happen.filter(({ after }) => after <= worked);
        expect(told).toHaveLength(new Set(due.map(({ after, to }) => JSON.stringify([after, to]))).size);
        const isApproved = filled.size === asked.length;
        await engine.work({ once: true });
        const { status } = await fixture.confirmation(confirmation.id);
        expect(status).toBe(isApproved ? "approved" : late >= deadline ? "expired" : "requested");
        expect(fixture.app.runs.filter(({ key }) => key === call.id)).toHaveLength(isApproved ? 1 : 0);
      },
    ),
    { numRuns, examples: [BOB_FILLS_IN] },
  );
  return filledIn;
}

/** The first free requirement that this person may fill now. */
function placeFor(
  who: string,
  asked: readonly { readonly from: { readonly users: readonly string[] } }[],
  escalated: readonly Escalated[],
  { filled, late }: { readonly filled: ReadonlyMap<number, string>; readonly late: number },
): number | undefined {
  if (who === "rita" || [...filled.values()].includes(who)) return undefined;
  const place = asked.findIndex(({ from }, index) => {
    const fillsIn = escalated.some(
      ({ after, to, fills }) => after <= late && fills.includes(index) && to.includes(who),
    );
    return !filled.has(index) && (from.users.includes(who) || fillsIn);
  });
  return place < 0 ? undefined : place;
}
