import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { CountersignError, type Part } from "../../protocol/index.ts";
import type { ModelChunk, ModelRequest } from "../../runtime/index.ts";
import { type ModelSubject, modelContract, type ProviderPlay } from "../../runtime/models/model.contract.ts";
import { type ScriptedAnswer, scripted } from "./index.ts";

describe("a scripted model keeps the contract", () => {
  test.each(modelContract.filter(({ needs }) => needs === undefined))("$name", async ({ run }) => {
    await expect(run(createSubject())).resolves.toBeUndefined();
  });
});

describe("a scripted model", () => {
  test("streams a text as the recorded agent does: two halves, then the whole", async () => {
    const model = scripted(() => "Tool reimburse answered: status=ok, purpose=hotel, amount=1500");
    expect(await playOut(model)).toEqual([
      { parts: [{ text: "Tool reimburse answered: status" }], partial: true },
      { parts: [{ text: "=ok, purpose=hotel, amount=1500" }], partial: true },
      { parts: [{ text: "Tool reimburse answered: status=ok, purpose=hotel, amount=1500" }] },
    ]);
  });

  test("streams no empty piece and no half of a character", async () => {
    expect(await playOut(scripted(() => "x"))).toHaveLength(2);
    expect(await playOut(scripted(() => ""))).toHaveLength(1);
    const halves = await playOut(scripted(() => "ab🙂c"));
    expect(halves.map(({ parts }) => parts[0]?.text)).toEqual(["ab🙂", "c", "ab🙂c"]);
  });

  test("gives parts as they are, thoughts and unknown members included", async () => {
    const parts: Part[] = [
      { text: "hm", thought: true, novel: [1] },
      { functionCall: { name: "f", args: {} } },
    ];
    const chunks = await playOut(scripted(() => parts));
    expect(chunks[0]).toEqual({ parts: [{ text: "h", thought: true }], partial: true });
    expect(chunks.at(-1)).toEqual({ parts });
  });

  test("fails under the message of what the function threw", async () => {
    const thrown = new Error("scripted model failure");
    const failing = playOut(
      scripted(() => {
        throw thrown;
      }),
    );
    await expect(failing).rejects.toMatchObject({
      code: "model-failed",
      message: "scripted model failure",
      details: { retryable: false },
      cause: thrown,
    });
  });

  test("has the name it was given", () => {
    expect(scripted(() => "").name).toBe("scripted");
    expect(scripted(() => "", { name: "demo" }).name).toBe("demo");
  });
});

async function playOut(model: ReturnType<typeof scripted>): Promise<ModelChunk[]> {
  const options = { signal: new AbortController().signal, stream: true };
  const chunks: ModelChunk[] = [];
  for await (const chunk of model.generate({ contents: [], tools: [] }, options)) chunks.push(chunk);
  return chunks;
}

function createSubject(): ModelSubject {
  const plays: ProviderPlay[] = [];
  const given: Part[] = [];
  const arrivals: (() => void)[] = [];
  const model = scripted((request) => {
    for (const resolve of arrivals.splice(0)) resolve();
    const next = plays.shift();
    if (next === undefined || !isSound(request, given)) throw new Error("The conversation is refused.");
    const answer = perform(next);
    if (typeof answer !== "string" && !(answer instanceof Promise)) given.push(...answer);
    return answer;
  });
  return {
    model,
    provide: (...next) => void plays.push(...next),
    arrival: () => new Promise((resolve) => arrivals.push(resolve)),
  };
}

function perform(play: ProviderPlay): ScriptedAnswer | Promise<ScriptedAnswer> {
  switch (play.kind) {
    case "text":
      return play.pieces.join("");
    case "calls":
      return [
        ...(play.text === undefined ? [] : [{ text: play.text }]),
        ...play.calls.map((functionCall) => ({
          functionCall,
          ...(play.sealed === true && { novel: { a: [1] } }),
        })),
      ];
    case "failure":
      throw new CountersignError("model-failed", "As asked.", { details: { retryable: play.retryable } });
    case "silence":
    case "cut":
      return new Promise(() => {});
  }
}

/** Each call is answered right after, and the parts that were given came back as they were. */
function isSound({ contents }: ModelRequest, given: readonly Part[]): boolean {
  const back = contents.flatMap(({ role, parts }) => (role === "model" ? parts : []));
  return (
    contents.every(({ parts }, index) => {
      const ids = parts.flatMap(({ functionCall }) => functionCall?.id ?? []);
      const answers = contents[index + 1]?.parts.flatMap(
        ({ functionResponse }) => functionResponse?.id ?? [],
      );
      return ids.length === 0 || isDeepStrictEqual(ids, answers);
    }) && back.every((part) => given.some((each) => isDeepStrictEqual(each, part)))
  );
}
