import { expect, test } from "vitest";
import { Engine } from "../../src/engine/index.ts";
import { tryApprove } from "../../src/engine/testing/try-decide.ts";
import { createLedger } from "../../src/stores/index.ts";
import { SECRET } from "../crash/life.ts";
import { useResources } from "../support/resources.ts";
import { Race, type RacerHandle, roundsOf, soon } from "./race.ts";
import type { Answer } from "./racing.ts";

const PROCESSES = 4;
const resources = useResources();

/** Has all of them decide at the same moment; the answers of all callers. */
async function decideTogether(
  racers: readonly RacerHandle[],
  confirmation: string,
  word: (index: number) => { readonly confirmed: boolean; readonly times: number; readonly delayMs?: number },
): Promise<readonly Answer[]> {
  const at = soon();
  const answers = await Promise.all(
    racers.map((racer, index) => {
      const { confirmed, times, delayMs = 0 } = word(index);
      return racer.ask({ do: "decide", confirmation, confirmed, times, at: at + delayMs });
    }),
  );
  return answers.flat();
}

test("one approval from 50 callers in 4 processes runs once and is answered 50 times alike", async () => {
  const race = await Race.on(resources);
  const racers = await race.racers(PROCESSES);
  const callers = [13, 13, 12, 12];
  for (let round = 0; round < roundsOf(20); round++) {
    const { confirmation, call } = await race.open(racers[round % PROCESSES] as RacerHandle, "quick");
    const answers = await decideTogether(racers, confirmation, (index) => ({
      confirmed: true,
      times: callers[index] ?? 0,
    }));
    expect(answers).toHaveLength(50);
    expect(answers.filter(({ ok }) => !ok)).toEqual([]);
    expect(answers.filter(({ repeated }) => repeated === false)).toHaveLength(1);
    expect(new Set(answers.map(({ decision }) => decision)).size, "one decision").toBe(1);
    expect(new Set(answers.map(({ final }) => JSON.stringify(final))).size, "one result").toBe(1);
    expect(answers[0]?.final?.status).toBe("succeeded");
    expect(race.runsOf(call)).toHaveLength(1);
  }
  expect(await race.check()).toEqual([]);
});

test("of an approval and a denial at the same moment one wins everywhere, and losers learn whose", async () => {
  const race = await Race.on(resources);
  const racers = await race.racers(PROCESSES);
  for (let round = 0; round < roundsOf(40); round++) {
    const { confirmation, call } = await race.open(racers[round % PROCESSES] as RacerHandle, "quick");
    const answers = await decideTogether(racers, confirmation, (index) => ({
      // Whoever opened it is quickest, and is for it in some rounds and against it in others.
      confirmed: (index + Math.floor(round / PROCESSES)) % 2 === 0,
      times: 3,
    }));
    expectOneWinner(answers, race.runsOf(call).length);
  }
  // Whichever side is quicker here: each of them wins if it is first.
  for (const first of [true, false]) {
    const { confirmation, call } = await race.open(racers[0] as RacerHandle, "quick");
    const sides = [first, !first].map((confirmed, side) => ({
      confirmed,
      racers: racers.slice(2 * side, 2 * side + 2),
    }));
    const answers: Answer[] = [];
    for (const { confirmed, racers: deciding } of sides)
      answers.push(...(await decideTogether(deciding, confirmation, () => ({ confirmed, times: 3 }))));
    expect(expectOneWinner(answers, race.runsOf(call).length)).toBe(first);
  }
  expect(await race.check()).toEqual([]);
});

/** Everybody is told of one decision. Returns whether it was an approval. */
function expectOneWinner(answers: readonly Answer[], runs: number): boolean {
  const decision = new Set(answers.map((answer) => answer.decision));
  expect(decision.size, "one decision").toBe(1);
  const [confirmed, by] = JSON.parse([...decision][0] ?? "[]") as [boolean, string];
  expect(answers.filter(({ repeated }) => repeated === false)).toHaveLength(1);
  for (const { ok, code, message, final } of answers) {
    if (ok) expect(final?.status).toBe(confirmed ? "succeeded" : "denied");
    else {
      expect(code).toBe("already-decided");
      expect(message).toContain(`${by} ${confirmed ? "approved" : "denied"} this at`);
    }
  }
  expect(answers.filter(({ ok }) => !ok)).toHaveLength(6);
  expect(runs).toBe(confirmed ? 1 : 0);
  return confirmed;
}

test("of an approval and the deadline at the same moment exactly one counts", async () => {
  const race = await Race.on(resources);
  const racers = await race.racers(PROCESSES, { works: true });
  const outcomes = { succeeded: 0, expired: 0 };
  for (let round = 0; round < roundsOf(30); round++) {
    const { confirmation, call } = await race.openBrief(racers[round % PROCESSES] as RacerHandle);
    const deadline = await race.look((view) => view.deadlineOf(confirmation));
    const answers = await Promise.all(
      racers.map((racer, index) =>
        racer.ask({ do: "decide", confirmation, confirmed: true, times: 2, at: deadline - 2 + index }),
      ),
    );
    const words = new Set(answers.flat().map(({ code, final }) => final?.status ?? code));
    expect([["succeeded"], ["expired"]], `round ${round}`).toContainEqual([...words]);
    const status = words.has("expired") ? "expired" : "succeeded";
    expect(race.runsOf(call)).toHaveLength(status === "expired" ? 0 : 1);
    outcomes[status] += 1;
  }
  expect(await race.check()).toEqual([]);
  expect(outcomes.succeeded + outcomes.expired).toBe(roundsOf(30));
});

test("calls approved where nobody can run them are each run by one of 4 workers", async () => {
  const race = await Race.on(resources);
  const racers = await race.racers(PROCESSES, { works: true });
  const opened = await Promise.all(
    Array.from({ length: roundsOf(100) }, (_, index) =>
      race.open(racers[index % PROCESSES] as RacerHandle, "quick"),
    ),
  );
  // Hosts nothing, so that what it approves is left ready for all four at once.
  const decider = new Engine({ ledger: await createLedger(race.ledgerUrl), secret: SECRET });
  resources.add(() => decider.close());
  const ended = await Promise.all(
    opened.map(async ({ confirmation }) => {
      const receipt = await tryApprove(decider, confirmation, { by: { id: "boss" } });
      return receipt.ok ? (await receipt.finished).status : receipt.code;
    }),
  );
  expect(new Set(ended)).toEqual(new Set(["succeeded"]));
  for (const { call } of opened) expect(race.runsOf(call)).toHaveLength(1);
  expect(await race.check()).toEqual([]);
});

test("of messages to one session at the same moment one is answered, the others get busy", async () => {
  const race = await Race.on(resources);
  const racers = await race.racers(PROCESSES);
  for (let round = 0; round < roundsOf(20); round++) {
    const session = `s${round}`;
    await racers[0]?.ask({ do: "message", session, number: 0 });
    const at = soon();
    const replies = await Promise.all(
      racers.map((racer) => racer.ask({ do: "message", session, number: 1, at })),
    );
    expect(replies.filter(({ ok }) => ok)).toHaveLength(1);
    expect(replies.filter(({ code }) => code === "session-busy")).toHaveLength(PROCESSES - 1);
  }
});
