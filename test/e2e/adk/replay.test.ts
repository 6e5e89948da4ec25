import { isDeepStrictEqual } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { isJsonArray, isJsonObject, type JsonObject } from "../../../src/protocol/index.ts";
import { ANSWER_DEVIATIONS } from "./replay/answer-deviations.ts";
import { type Deviation, rewritten } from "./replay/deviation.ts";
import { Identities } from "./replay/identities.ts";
import { eventsIn, FILES, type Outcome, type Step, stepsOf } from "./replay/recording.ts";
import { ROUTE_DEVIATIONS } from "./replay/route-deviations.ts";
import { ReplayServer } from "./replay/server.ts";

const DEVIATIONS: readonly Deviation[] = [...ROUTE_DEVIATIONS, ...ANSWER_DEVIATIONS];

let server: ReplayServer | undefined;

afterEach(async () => {
  await server?.close();
});

test("there are recordings of every kind of request", () => {
  expect(FILES).toHaveLength(16);
  expect(FILES.flatMap(stepsOf)).toHaveLength(239);
});

test.each(DEVIATIONS)("the difference is still one: $name", ({ at, expect: change }) => {
  const found = FILES.flatMap((file) => {
    const steps = stepsOf(file);
    return steps.flatMap((step, index) => (at(step) ? [{ step, before: steps.slice(0, index) }] : []));
  });
  expect(found).not.toEqual([]);
  const idle = found.filter(({ step, before }) =>
    isDeepStrictEqual(change(step.recorded, step, before), step.recorded),
  );
  expect(idle.map(({ step }) => step.name)).toEqual([]);
});

describe("every recorded request is answered as recorded, up to ids, times and the named differences", () => {
  test.each(FILES)("%s", async (file) => {
    const replay = new ReplayServer(file.startsWith("17-") ? { allowOrigins: ["*"] } : {});
    server = replay;
    const steps = stepsOf(file);
    const kept = keptInvocations(steps);
    const identities = new Identities();
    for (const [index, step] of steps.entries()) {
      const ours = await replay.send(identities.inText(step.request.path), requestOf(step, identities));
      const expected = expectedOf(step, steps.slice(0, index), kept);
      identities.learn(expected.body, ours.body);
      const { modelSaw: _untold, ...answer } = ours;
      const compared = "modelSaw" in expected ? ours : answer;
      expect({ step: step.name, ...compared }).toEqual({
        step: step.name,
        ...(identities.inValue(expected) as Outcome),
      });
    }
    expect(identities.areDistinct).toBe(true);
  });
});

function requestOf({ request }: Step, identities: Identities): RequestInit {
  const body = request.rawBody ?? (request.json === undefined ? undefined : JSON.stringify(request.json));
  const { method, headers } = request;
  return { method, headers, ...(body === undefined ? {} : { body: identities.inText(body) }) };
}

function expectedOf(step: Step, before: readonly Step[], kept: ReadonlyMap<string, string>): Outcome {
  let outcome = step.recorded;
  for (const deviation of DEVIATIONS) {
    if (deviation.at(step)) outcome = deviation.expect(outcome, step, before);
  }
  // Difference 3: what goes on after an answer is the invocation that paused.
  return rewritten(outcome, (text) => kept.get(text) ?? text);
}

/** Which recorded invocation, begun by an answer, goes on with which. */
function keptInvocations(steps: readonly Step[]): ReadonlyMap<string, string> {
  const asked = new Map<string, string>();
  const kept = new Map<string, string>();
  for (const { request, recorded } of steps) {
    const answeredId = answerIn(request.json);
    for (const event of eventsIn(recorded.body)) {
      const invocation = event.invocationId;
      const original = asked.get(answeredId);
      if (request.method === "POST" && original !== undefined) kept.set(invocation, original);
      for (const id of event.longRunningToolIds) asked.set(id, invocation);
    }
  }
  return kept;
}

function answerIn(body: JsonObject | undefined): string {
  const message = body?.["newMessage"];
  const parts = isJsonObject(message) ? message["parts"] : [];
  for (const part of isJsonArray(parts) ? parts : []) {
    const response = isJsonObject(part) ? part["functionResponse"] : undefined;
    if (isJsonObject(response) && typeof response["id"] === "string") return response["id"];
  }
  return "";
}
