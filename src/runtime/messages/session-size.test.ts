import { describe, expect, test } from "vitest";
import {
  call,
  type Line,
  play,
  resultsIn,
  type StrictModel,
  useRunners,
} from "../../../test/seeds/scripted-runner.ts";
import { Agent, type JsonObject, type Runner, type RunnerOptions, type Tool, tool } from "../../index.ts";

const makeRunner = useRunners();
const ana = { user: "ana", session: "s1" } as const;
const where = { appName: "a", userId: "ana", sessionId: "s1" } as const;
const LONG = "x".repeat(20_000);

function talker(lines: readonly Line[], options: Partial<RunnerOptions> = {}, tools: readonly Tool[] = []) {
  const model = play(...lines);
  return { model, runner: makeRunner({ agent: new Agent({ name: "a", model, tools }), ...options }) };
}

function lastResults({ requests }: StrictModel): readonly JsonObject[] {
  return requests.slice(-1).flatMap((request) => resultsIn(request));
}

async function stored(runner: Runner): Promise<string> {
  return JSON.stringify((await runner.sessionService.getSession(where)) ?? null);
}

describe("a session that is full", () => {
  test("takes no further message: it is refused before anything is stored, and a new session is free", async () => {
    const { model, runner } = talker(["one", "two", "new"], { maxSessionBytes: 25_000 });
    await runner.send("first", ana);
    const before = await stored(runner);
    await expect(runner.send(LONG + LONG, ana)).rejects.toMatchObject({ code: "session-full" });
    expect(await stored(runner)).toBe(before);
    expect(model.requests).toHaveLength(1);
    expect(await runner.send("small", ana)).toMatchObject({ text: "two" });
    expect(await runner.send("hello", { user: "ana", session: "s2" })).toMatchObject({ text: "new" });
  });

  test("cannot be made by importing one", async () => {
    const { runner } = talker([], { maxSessionBytes: 10_000 });
    const engine = await runner.engine();
    const event = {
      author: "user",
      invocationId: "i",
      content: { role: "user", parts: [{ text: LONG }] },
    } as const;
    const made = await engine.createSession({ app: "a", user: "ana", id: "s1" }, {}, { events: [event] });
    expect(made).toMatchObject({ ok: false, code: "session-full" });
  });

  test("stores no answer of a model that does not fit: the run ends with an error", async () => {
    const { runner } = talker([LONG, "short"], { maxSessionBytes: 10_000 });
    expect(await runner.send("hello", ana)).toMatchObject({
      status: "failed",
      error: { code: "session-full" },
    });
    expect(await stored(runner)).not.toContain("xxxxxxxxxx");
    expect(await runner.send("again", ana)).toMatchObject({ status: "completed", text: "short" });
  });

  test("keeps no calls of a model that it has no room for, and runs none of them", async () => {
    let runs = 0;
    const pay = tool({ name: "pay", description: "", execute: () => ++runs });
    const { runner } = talker([[call("pay", { note: LONG })]], { maxSessionBytes: 10_000 }, [pay]);
    expect(await runner.send("hello", ana)).toMatchObject({
      status: "failed",
      error: { code: "session-full" },
    });
    expect(runs).toBe(0);
  });

  test("does not make a call that ran a failure: the model is told that its result was not stored", async () => {
    const read = tool({ name: "read", description: "", execute: () => LONG });
    const { model, runner } = talker([[call("read")], "Read."], { maxSessionBytes: 10_000 }, [read]);
    expect(await runner.send("hello", ana)).toMatchObject({ status: "completed", text: "Read." });
    expect(lastResults(model)).toMatchObject([
      { warning: expect.stringContaining("the session is full") as string },
    ]);
  });

  test("is full after about sixteen megabytes by default", async () => {
    const { runner } = talker(Array.from({ length: 67 }, () => "ok"));
    const message = "m".repeat(1_000_000);
    let taken = 0;
    const refused = await (async () => {
      for (; taken < 67; taken += 1) await runner.send(message, ana);
    })().catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "session-full" });
    expect(taken).toBe(16);
  });
});

describe("one thing alone is too large", () => {
  test("an answer of a model", async () => {
    const { runner } = talker([LONG, "short"], { maxModelBytes: 10_000 });
    expect(await runner.send("hello", ana)).toMatchObject({ status: "failed", error: { code: "too-large" } });
    expect(await runner.send("again", ana)).toMatchObject({ text: "short" });
  });

  test.each(["beforeModel", "afterModel", "beforeAgent", "afterAgent"] as const)(
    "an answer of a %s hook",
    async (name) => {
      const answer = { role: "model", parts: [{ text: LONG }] };
      const { runner } = talker(["short"], { maxModelBytes: 10_000, [name]: () => answer });
      expect(await runner.send("hello", ana)).toMatchObject({
        status: "failed",
        error: { code: "too-large" },
      });
      expect(await stored(runner)).not.toContain("xxxxxxxxxx");
    },
  );

  test("an answer of a beforeTool hook", async () => {
    let runs = 0;
    const pay = tool({ name: "pay", description: "", execute: () => ++runs });
    const options = { maxResultBytes: 10_000, beforeTool: () => ({ said: LONG }) };
    const { model, runner } = talker([[call("pay")], "Done."], options, [pay]);
    await runner.send("hello", ana);
    expect(lastResults(model)).toMatchObject([
      { error: expect.stringContaining("the limit is 10000") as string },
    ]);
    expect(runs).toBe(0);
  });

  test("what a tool sets in its state, at once or little by little", async () => {
    const keep = tool({
      name: "keep",
      description: "",
      execute: (_args, { state }) => {
        for (let place = 0; place < 10; place += 1) state.set(`k${place}`, "v".repeat(3_000));
        return "kept";
      },
    });
    const { model, runner } = talker([[call("keep")], "Done."], { maxStateBytes: 10_000 }, [keep]);
    await runner.send("hello", ana);
    expect(lastResults(model)).toMatchObject([{ error: expect.stringContaining("maxStateBytes") as string }]);
    expect((await runner.sessionService.getSession(where))?.state).toEqual({});
  });

  test("state that comes with a message, alone or with what there is", async () => {
    const { runner } = talker(["one", "two"], { maxStateBytes: 10_000 });
    const half = { a: "v".repeat(6_000) };
    await expect(runner.send("hello", { ...ana, stateDelta: { a: LONG } })).rejects.toMatchObject({
      code: "too-large",
    });
    expect(await stored(runner)).toBe("null");
    await runner.send("hello", { ...ana, stateDelta: half });
    await expect(runner.send("more", { ...ana, stateDelta: { b: half.a } })).rejects.toMatchObject({
      code: "too-large",
    });
    expect((await runner.sessionService.getSession(where))?.state).toEqual(half);
  });
});

/** A question in a session that is about to be full. */
async function asked(execute: () => unknown) {
  const pay = tool({ name: "pay", description: "", requireConfirmation: true, execute });
  const { runner } = talker([[call("pay")], "Done."], { maxSessionBytes: 5_000 }, [pay]);
  const { pending } = await runner.send("hello", ana);
  return { runner, id: String(pending[0]?.id) };
}

describe("a question in a session that is full by the time it is answered", () => {
  const byAna = { by: { id: "ana" } };

  test("a denial is reported as a denial, and not as a call that ran", async () => {
    let runs = 0;
    const { runner, id } = await asked(() => ++runs);
    const { finished } = await runner.deny(id, { ...byAna, reason: "n".repeat(4_000) });
    await finished;
    expect(runs).toBe(0);
    const session = await stored(runner);
    expect(session).not.toContain("the tool ran");
    expect(session).toContain("rejected by the user");
  });

  test("what an approved call did is kept with the call, though the session has no room for it", async () => {
    const { runner, id } = await asked(() => LONG);
    await (await runner.approve(id, byAna)).finished;
    const { ledger } = await runner.engine();
    const [closed] = (await ledger.confirmations({ state: "closed" })).items;
    expect(closed?.call).toMatchObject({ status: "succeeded", result: LONG });
    expect(await stored(runner)).toContain("the session is full");
  });

  test("a failed call is reported as a failure", async () => {
    const { runner, id } = await asked(() => {
      throw new Error("e".repeat(6_000));
    });
    await (await runner.approve(id, byAna)).finished;
    const session = await stored(runner);
    expect(session).not.toContain("the tool ran");
    expect(session).toContain("the tool failed");
  });
});
