import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/protocol/index.ts";
import { effort } from "../support/effort.ts";
import { Resources } from "../support/resources.ts";
import { onPostgres, Race, type RacerHandle, soon } from "./race.ts";
import { QUORUMS, type RacedVote, VOTERS, type VoteAnswer } from "./racing.ts";

const PROCESSES = 4;
/** A quarter of them on PostgreSQL, which takes longer; `npm run test:votes` has them all there, too. */
const ROUNDS = onPostgres
  ? effort({ short: 2, long: 75, variable: "COUNTERSIGN_VOTES" })
  : effort({ short: 6, long: 300, variable: "COUNTERSIGN_VOTES" });
// All on one ledger, in the same four processes: to start them takes longer than the votes.
const resources = new Resources();
let race: Race;
let racers: readonly RacerHandle[];

beforeAll(async () => {
  race = await Race.on(resources);
  racers = await race.racers(PROCESSES);
});

afterAll(() => resources.release());

/** Has all of them vote at the same moment, each process for every fourth of them. */
async function voteTogether(
  confirmation: string,
  votes: readonly RacedVote[],
): Promise<readonly VoteAnswer[]> {
  const at = soon();
  const answers = await Promise.all(
    racers.map((racer, index) =>
      racer.ask({
        do: "vote",
        confirmation,
        votes: votes.filter((_, place) => place % racers.length === index),
        at,
      }),
    ),
  );
  return answers.flat();
}

/** Whose votes stand, and how the question ended, by what the journal says one after another. */
async function recorded({ confirmation, call }: { readonly confirmation: string; readonly call: string }) {
  const standing = new Map<string, boolean>();
  const slots = new Map<string, unknown>();
  const ended: string[] = [];
  for (const { kind, body } of await race.journalOf(call)) {
    if (body["confirmation"] !== confirmation) continue;
    if (/^confirmation-(approved|denied)$/.test(kind)) ended.push(kind);
    for (const gone of (body["ended"] ?? []) as readonly string[]) standing.delete(gone);
    if (kind === "vote-withdrawn") standing.delete((body["by"] as { readonly id: string }).id);
    if (typeof body["confirmed"] !== "boolean" || kind === "decision-refused") continue;
    const { id } = body["by"] as { readonly id: string };
    standing.set(id, body["confirmed"]);
    slots.set(id, (body["slot"] as JsonObject | undefined)?.["place"]);
  }
  const approvals = [...standing].flatMap(([by, confirmed]) => (confirmed ? [by] : []));
  return { standing, ended, approvals, places: approvals.map((by) => slots.get(by)) };
}

const approve = (by: string): RacedVote => ({ by, how: "approve" });

test("of 20 voters in 4 processes exactly 12 are counted, each in a place of its own, and it runs once", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { confirmation, call } = await race.open(racers[round % PROCESSES] as RacerHandle, "many");
    const answers = await voteTogether(confirmation, VOTERS.map(approve));
    expect(answers.filter(({ ok }) => !ok)).toEqual([]);
    expect(answers.filter(({ repeated }) => repeated === false)).toHaveLength(QUORUMS.many);
    const { approvals, places, ended } = await recorded({ confirmation, call });
    expect(ended).toEqual(["confirmation-approved"]);
    expect(approvals.toSorted()).toEqual(
      answers.flatMap(({ by, repeated }) => (repeated === false ? [by] : [])).toSorted(),
    );
    expect(new Set(places).size).toBe(QUORUMS.many);
    expect(race.runsOf(call)).toHaveLength(1);
  }
  expect(await race.check()).toEqual([]);
});

test("of 16 last votes at the same moment one decides, and the call runs once", async () => {
  const [first = "", ...others] = VOTERS;
  for (let round = 0; round < ROUNDS; round++) {
    const opener = racers[round % PROCESSES] as RacerHandle;
    const { confirmation, call } = await race.open(opener, "pair");
    await opener.ask({ do: "vote", confirmation, votes: [approve(first)] });
    const answers = await voteTogether(confirmation, others.slice(0, 16).map(approve));
    expect(answers).toHaveLength(16);
    const decided = answers.filter(({ repeated }) => repeated === false);
    expect(decided).toMatchObject([{ status: "approved" }]);
    expect(answers.every(({ ok, status }) => ok && status === "approved")).toBe(true);
    const { approvals, ended } = await recorded({ confirmation, call });
    expect(approvals).toEqual([first, decided[0]?.by]);
    expect(ended).toEqual(["confirmation-approved"]);
    expect(race.runsOf(call)).toHaveLength(1);
  }
  expect(await race.check()).toEqual([]);
});

test("a last vote and the withdrawal of the first at the same moment: it runs, or the vote is gone", async () => {
  const [first = "", second = "", third = ""] = VOTERS;
  for (let round = 0; round < ROUNDS; round++) {
    const opener = racers[round % PROCESSES] as RacerHandle;
    const { confirmation, call } = await race.open(opener, "pair");
    await opener.ask({ do: "vote", confirmation, votes: [approve(first)] });
    const withdrawal: RacedVote = { by: first, how: "withdraw" };
    const [one, other] = await voteTogether(confirmation, [withdrawal, approve(second)]);
    expect([one?.how, other?.how]).toEqual(["withdraw", "approve"]);
    const { approvals, ended } = await recorded({ confirmation, call });
    if (one?.ok === true) {
      expect([approvals, ended]).toEqual([[second], []]);
      expect(other).toMatchObject({ ok: true, status: "requested" });
      expect(race.runsOf(call)).toEqual([]);
      await opener.ask({ do: "vote", confirmation, votes: [approve(third)] });
    } else {
      expect(one).toMatchObject({ code: "already-decided" });
      expect([approvals, ended]).toEqual([[first, second], ["confirmation-approved"]]);
    }
    expect(race.runsOf(call)).toHaveLength(1);
  }
  expect(await race.check()).toEqual([]);
});

test("approvals, denials and changed minds at the same moment: what stands is what the outcome says", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { confirmation, call } = await race.open(racers[round % PROCESSES] as RacerHandle, "many");
    const early = VOTERS.slice(0, 8);
    await voteTogether(confirmation, early.map(approve));
    // Some take back what they said, a few turn against it, the others vote.
    const votes = VOTERS.map((by, index): RacedVote => {
      if (index < 3) return { by, how: "withdraw" };
      return { by, how: (index + round) % 9 === 0 ? "deny" : "approve" };
    });
    const answers = await voteTogether(confirmation, votes);
    const { standing, approvals, ended, places } = await recorded({ confirmation, call });
    const denials = [...standing.values()].filter((confirmed) => !confirmed).length;
    const outcome = denials >= 2 ? "denied" : approvals.length >= QUORUMS.many ? "approved" : undefined;
    expect(ended).toEqual(outcome === undefined ? [] : [`confirmation-${outcome}`]);
    expect(approvals.length).toBeLessThanOrEqual(QUORUMS.many);
    expect(new Set(places).size).toBe(approvals.length);
    expect(race.runsOf(call)).toHaveLength(outcome === "approved" ? 1 : 0);
    for (const { by, how, ok, repeated } of answers) {
      if (how === "withdraw" && ok && repeated === false) expect(standing.has(by), by).toBe(false);
    }
    if (outcome === undefined)
      await racers[0]?.ask({ do: "vote", confirmation, votes: VOTERS.map((by) => ({ by, how: "deny" })) });
  }
  expect(await race.check()).toEqual([]);
});
