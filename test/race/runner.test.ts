import { expect, test } from "vitest";
import { RacerError, type RunnerAnswer, RunnerRace, type RunnerRacer } from "../crash/runner/racing.ts";
import { useResources } from "../support/resources.ts";
import { soon } from "./race.ts";

const resources = useResources();

async function threeOn(race: RunnerRace): Promise<readonly [RunnerRacer, RunnerRacer, RunnerRacer]> {
  return [await race.racer("a"), await race.racer("b"), await race.racer("c")];
}

async function pendingOf(racer: RunnerRacer, session: string): Promise<string> {
  const { status, pending } = await racer.ask({ do: "send", session, text: "pay" });
  expect(status).toBe("paused");
  return String(pending[0]);
}

async function decideTogether(
  racers: readonly RunnerRacer[],
  confirmation: string,
  word: (index: number) => { readonly confirmed: boolean; readonly times: number },
): Promise<readonly RunnerAnswer[]> {
  const at = soon();
  const answers = await Promise.all(
    racers.map((racer, index) => racer.ask({ do: "decide", confirmation, at, ...word(index) })),
  );
  return answers.flat();
}

test("one approval sent 20 times from 3 Runners runs the tool once, and all get one outcome", async () => {
  const race = await RunnerRace.on(resources);
  const racers = await threeOn(race);
  const times = [7, 7, 6];
  for (let round = 0; round < 15; round++) {
    const before = race.effects().length;
    const confirmation = await pendingOf(racers[round % 3] as RunnerRacer, `s${round}`);
    const answers = await decideTogether(racers, confirmation, (index) => ({
      confirmed: true,
      times: times[index] ?? 0,
    }));
    expect(answers).toHaveLength(20);
    expect(answers.filter(({ ok }) => !ok)).toEqual([]);
    expect(answers.filter(({ repeated }) => repeated === false)).toHaveLength(1);
    expect(new Set(answers.map(({ decision }) => decision)).size, "one decision").toBe(1);
    expect(new Set(answers.map(({ finished }) => finished))).toEqual(
      new Set([JSON.stringify(["completed", 'pay {"did":"pay"}'])]),
    );
    expect(race.effects().length - before).toBe(1);
  }
  expect(await race.check()).toEqual([]);
});

test("of an approval and a denial at the same moment one wins, and the model gets that one", async () => {
  const race = await RunnerRace.on(resources);
  const racers = await threeOn(race);
  for (let round = 0; round < 20; round++) {
    const session = `s${round}`;
    const before = race.effects().length;
    const confirmation = await pendingOf(racers[round % 3] as RunnerRacer, session);
    const answers = await decideTogether(racers, confirmation, (index) => ({
      confirmed: (index + round) % 2 === 0,
      times: 3,
    }));
    const taken = answers.filter(({ ok }) => ok);
    expect(taken.filter(({ repeated }) => repeated === false)).toHaveLength(1);
    expect(new Set(taken.map(({ decision }) => decision)).size, "one decision").toBe(1);
    expect(new Set(taken.map(({ finished }) => finished)).size, "one outcome").toBe(1);
    const [approved, by] = JSON.parse(String(taken[0]?.decision)) as [boolean, string];
    for (const refused of answers.filter(({ ok }) => !ok)) {
      expect(refused).toMatchObject({
        code: "already-decided",
        message: expect.stringContaining(by) as string,
      });
    }
    expect(race.effects().length - before).toBe(approved ? 1 : 0);
    expect(taken[0]?.finished).toContain(approved ? "did" : "rejected");
  }
  expect(await race.check()).toEqual([]);
});

test.each([
  { role: "runner", how: "a Runner, which runs what it approved" },
  { role: "engine", how: "an engine, which leaves that to the worker" },
] as const)(
  "what is decided elsewhere by $how is seen in its place by whoever streams the run",
  async ({ role }) => {
    const race = await RunnerRace.on(resources);
    const watcher = await race.racer("b");
    const worker = await race.racer("c", "worker");
    const decider = await race.racer("a", role);
    for (const session of ["s0", "s1", "s2"]) {
      const streamed = watcher.ask({ do: "run", session, text: "slow pay" });
      await watcher.child.line("in-body");
      const request = await watcher.event("functionCall", "adk_request_confirmation");
      const [confirmation = ""] = request.longRunningToolIds ?? [];
      // Not awaited yet: what a Runner has `finished` is the whole turn, and that waits for the slow tool.
      const decided = decider.ask({ do: "decide", confirmation, confirmed: true, times: 1 });
      await watcher.event("functionResponse", "pay");
      watcher.leave();
      await watcher.event("functionResponse", "slow");
      const last = await watcher.event("text");
      expect(last.content?.parts[0]?.text).toBe('slow {"did":"slow"}\npay {"did":"pay"}');
      expect(await decided).toMatchObject([{ ok: true, repeated: false }]);
      const stored = (await race.events(session)).filter(({ author }) => author !== "user");
      expect((await streamed).ids).toEqual(stored.map(({ id }) => id));
    }
    expect(race.effects().map(({ tool }) => tool)).toEqual(["pay", "slow", "pay", "slow", "pay", "slow"]);
    expect(worker.child.complaints).toBe("");
    expect(await race.check()).toEqual([]);
  },
);

test("a provider in one process is aborted by a decision in another, and its stream continues", async () => {
  const race = await RunnerRace.on(resources);
  const asker = await race.racer("b");
  const decider = await race.racer("a");
  const streamed = asker.ask({ do: "run", session: "s", text: "vouch" });
  await asker.child.line("asked");
  const request = await asker.event("functionCall", "adk_request_confirmation");
  const [confirmation = ""] = request.longRunningToolIds ?? [];
  const [answer] = await decider.ask({ do: "decide", confirmation, confirmed: true, times: 1 });
  expect(answer).toMatchObject({ ok: true, repeated: false });
  await asker.child.line("aborted");
  await asker.event("functionResponse", "vouch");
  expect((await asker.event("text")).content?.parts[0]?.text).toBe('vouch {"did":"vouch"}');
  const stored = (await race.events("s")).filter(({ author }) => author !== "user");
  expect((await streamed).ids).toEqual(stored.map(({ id }) => id));
  expect(race.effects()).toHaveLength(1);
  expect(await race.check()).toEqual([]);
});

test("two messages to one session at once are answered in order or refused as busy; none is lost", async () => {
  const race = await RunnerRace.on(resources);
  const racers = [await race.racer("a"), await race.racer("b")] as const;
  for (let round = 0; round < 20; round++) {
    const session = `s${Math.floor(round / 2)}`;
    const at = soon();
    const outcomes = await Promise.all(
      racers.map(async (racer, index) => {
        const text = `${round}.${index}`;
        try {
          return { text, turn: await racer.ask({ do: "send", session, text, at }) };
        } catch (error) {
          expect(error).toBeInstanceOf(RacerError);
          expect((error as RacerError).code).toBe("session-busy");
          return { text };
        }
      }),
    );
    const taken = outcomes.filter((outcome) => "turn" in outcome);
    expect(taken.length).toBeGreaterThanOrEqual(1);
    for (const { text, turn } of taken)
      expect(turn).toMatchObject({ status: "completed", text: `heard ${text}` });
    const said = (await race.events(session)).map(
      ({ author, content }) => `${author} ${content?.parts[0]?.text}`,
    );
    const ours = said.filter((line) => line.includes(`${round}.`));
    expect(ours.toSorted()).toEqual(
      taken.flatMap(({ text }) => [`user ${text}`, `teller heard ${text}`]).toSorted(),
    );
    // Each is answered before the next is taken.
    for (const [index, line] of said.entries()) {
      if (line.startsWith("user ")) expect(said[index + 1]).toBe(line.replace("user ", "teller heard "));
    }
  }
  expect(await race.check()).toEqual([]);
});

test("a message while another one is being answered in another process is refused as busy, and changes nothing", async () => {
  const race = await RunnerRace.on(resources);
  const [first, second] = [await race.racer("a"), await race.racer("b")];
  const answered = first.ask({ do: "send", session: "s", text: "wait for it" });
  await first.child.line("in-body");
  await expect(second.ask({ do: "send", session: "s", text: "hello" })).rejects.toMatchObject({
    code: "session-busy",
  });
  first.leave();
  expect(await answered).toMatchObject({ status: "completed", text: "heard wait for it" });
  expect(await second.ask({ do: "send", session: "s", text: "hello" })).toMatchObject({
    status: "completed",
    text: "heard hello",
  });
  expect(await race.events("s")).toHaveLength(4);
  expect(await race.check()).toEqual([]);
});
